export { lookedBackSubject, ownerSubject, producers } from './facts.js';
