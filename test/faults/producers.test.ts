import { clocks, duplicateStorm, replay } from './producers.js';
import { shortForms } from './short-form.js';

shortForms(['FAULT-11', duplicateStorm], ['FAULT-12', replay], ['FAULT-13', clocks]);
