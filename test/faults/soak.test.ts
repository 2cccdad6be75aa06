import { shortForms } from './short-form.js';
import { soak } from './soak.js';

shortForms(['FAULT-20', soak]);
