import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

// The page is served by the binary at / under a policy that allows nothing
// inline: styles become files, nothing is inlined, no polyfill is injected.
export default defineConfig({
  base: './',
  plugins: [svelte()],
  build: {
    outDir: '../static/dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  server: { proxy: { '/v1': { target: process.env['REELTREE_SERVER'] ?? 'http://127.0.0.1:8400', ws: true } } },
  test: { include: ['src/**/*.test.ts'], environment: 'node' },
});
