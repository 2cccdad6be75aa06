import { oauthDescriptions } from '../oauth/descriptions.js';
import type { Description } from '../operations/core/description.js';
import { eventStreams, operations } from '../operations/index.js';
import { pageDescriptions } from '../pages/descriptions.js';
import { livePageDescription } from '../pages/live.js';
import { socketDescription } from '../socket/description.js';
import { descriptionOf, streamDescriptionOf, withExamples } from './describe.js';

/** Every operation of the public API, as it is described. */
export const descriptions: Description[] = [
  ...operations.filter(({ http }) => http).map(descriptionOf),
  ...eventStreams.map(streamDescriptionOf),
  socketDescription,
  livePageDescription,
  ...pageDescriptions,
  ...oauthDescriptions,
].map(withExamples);
