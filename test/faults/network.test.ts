import { cut, freeze } from './network.js';
import { shortForms } from './short-form.js';

shortForms(['FAULT-07 QUEUE-15 QUEUE-11', cut], ['FAULT-08', freeze]);
