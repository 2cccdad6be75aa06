export { addressLine, type Group, groupsIn, mostNamed, nameOf, readAddressLine } from './group.js';
export { type GroupLine, GroupWatch, groupLimits, type Limited } from './watch.js';
