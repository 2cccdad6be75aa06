import { pauseIrcd, pauseNats } from './network.js';
import { shortForms } from './short-form.js';

shortForms(['FAULT-09', pauseNats], ['FAULT-10', pauseIrcd]);
