FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build && npm prune --omit=dev --no-audit --no-fund

FROM node:24-bookworm-slim AS runtime
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data
WORKDIR /app
RUN mkdir /data && chown node:node /data
COPY --from=build /app ./
VOLUME /data

# The IRC server and the nick service, as `npm start` would configure them: docker build --target inspircd .
FROM runtime AS inspircd
RUN apt-get update \
  && apt-get install --yes --no-install-recommends inspircd anope \
  && rm -rf /var/lib/apt/lists/*
USER node
EXPOSE 6667
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "require('net').connect(process.env.IRC_EMBEDDED_PORT || 6667, '127.0.0.1').on('connect', () => process.exit(0)).on('error', () => process.exit(1))"]
CMD ["node", "dist/src/servers/run-inspircd.js"]

# The service; NATS_URL, DATABASE_URL and IRC_URL name the servers, which are not in this image.
FROM runtime AS service
USER node
EXPOSE 8100
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 8100}/ready`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=32", "dist/src/main.js"]
