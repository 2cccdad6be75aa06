import { openApiDocument } from '../../openapi/document.js';
import { descriptions } from '../../openapi/index.js';
import { docsRoutes } from '../../pages/docs.js';
import { guideRoutes } from '../../pages/guide.js';
import { livePageRoutes } from '../../pages/live.js';
import type { Area, AreaParts } from './area.js';

/** The description of the public API, for programs and for people. */
export function docsArea({ config }: AreaParts): Area {
  return {
    api: async (server) => {
      await server.register(livePageRoutes);
      await server.register(guideRoutes);
      const document = () => openApiDocument(descriptions, config.PUBLIC_URL);
      await server.register(docsRoutes, { document });
    },
  };
}
