import { killDelivery, killNatsNode } from './crashes.js';
import { shortForms } from './short-form.js';

shortForms(['FAULT-02', killDelivery]);
shortForms(['FAULT-04', killNatsNode]);
