export { ownerSubject, producers } from './facts.js';
