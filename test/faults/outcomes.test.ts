import { outageBeyondTtl, poison } from './outcomes.js';
import { shortForms } from './short-form.js';

shortForms(['FAULT-14', poison]);
shortForms(['FAULT-15', outageBeyondTtl]);
