import { backlog, slowClients } from './pressure.js';
import { shortForms } from './short-form.js';

shortForms(['FAULT-18', backlog], ['FAULT-19', slowClients]);
