import { killNats, killService } from './crashes.js';
import { shortForms } from './short-form.js';

shortForms(['FAULT-01 QUEUE-12 QUEUE-11', killService], ['FAULT-03 QUEUE-13 QUEUE-11', killNats]);
