import { killAll, killIrcd } from './crashes.js';
import { shortForms } from './short-form.js';

shortForms(['FAULT-05 QUEUE-14', killIrcd], ['FAULT-06', killAll]);
