export { addressLine, type Group, groupsIn, nameOf, readAddressLine } from './group.js';
export { type GroupLine, GroupWatch } from './watch.js';
