export {
  type FloorAnswer,
  type FloorSighting,
  type FloorState,
  floorAt,
  floorCommandIn,
  freeFloor,
  lapsesAt,
  seeFloor,
} from './floor.js';
