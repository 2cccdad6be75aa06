export { addressLine, type Group, groupsIn, nameOf, readAddressLine } from './group.js';
export { type GroupLine, GroupWatch, type Limited } from './watch.js';
