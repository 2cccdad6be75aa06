import { shortForms } from './short-form.js';
import { diskFull, tornCopy } from './storage.js';

shortForms(['FAULT-16', diskFull]);
shortForms(['FAULT-17', tornCopy]);
