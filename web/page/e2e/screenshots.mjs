// Pictures of the main states for docs/images, made from the real binary:
// npm run screenshots. SHOTS=dir keeps every state, not just the documented ones.
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { finished, launch, open } from './browser.mjs';
import { Service, root, talk } from './service.mjs';

const images = join(root, 'docs/images');
const more = process.env.SHOTS ?? '';
await mkdir(images, { recursive: true });
if (more) await mkdir(more, { recursive: true });
const question = 'How did keepers turn the heavy lens?';
const browser = await launch();
const service = await Service.start();
const wide = { viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' };
const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 1.5, isMobile: true, hasTouch: true };

async function shot(path, name, options, prepare = () => {}, where = images) {
  if (!where) return;
  const { page, context } = await open(browser, `${service.url}/${path}`, { ...wide, ...options });
  await prepare(page);
  await page.evaluate(() => document.fonts.ready);
  await page.waitForFunction(() => [...document.images].every((i) => i.complete || i.loading === 'lazy'));
  await page.screenshot({ path: join(where, `${name}.png`) });
  await context.close();
}

const playable = (page) => page.waitForFunction(() => document.querySelector('video')?.readyState >= 2);

async function put(page, q) {
  await page.fill('#question', q);
  await page.press('#question', 'Enter');
  await finished(page);
  await page.evaluate(() => document.activeElement.blur());
}

async function watch(page, q = question) {
  await playable(page);
  await put(page, q);
  const chip = await page.$('[data-chip] >> nth=-1');
  if (chip) {
    await page.evaluate(async (c) => {
      const video = document.querySelector('video');
      const seeked = new Promise((r) => video.addEventListener('seeked', r, { once: true }));
      c.click();
      await seeked;
      video.pause();
    }, chip);
    await page.waitForSelector('.lines span');
  }
  await page.mouse.move(2, 2);
}

try {
  await shot('', 'empty-light', {}, (page) => page.waitForSelector('.first'), more);
  await shot('', 'empty-phone', phone, (page) => page.waitForSelector('.first'), more);
  const titled = join(service.data, 'Light across the sea.mp4');
  await copyFile(talk, titled);
  const { source } = await service.ingest(titled);
  const at = `#/s/${source}?t=20`;
  await shot(at, 'watch-light', { colorScheme: 'light' }, watch);
  await shot(at, 'watch-dark', { colorScheme: 'dark' }, watch);
  await shot(at, 'watch-phone', { ...phone, colorScheme: 'light' }, watch);
  await shot(at, 'intro-light', {}, playable, more);
  await shot(at, 'why-dark', { colorScheme: 'dark' }, async (page) => { await watch(page); await page.click('details summary'); await page.$eval('[data-thread]', (e) => e.scrollTo(0, 9999)); }, more);
  await shot(at, 'chapters-light', {}, async (page) => { await page.click('[data-tab=chapters]'); await page.evaluate(() => scrollTo(0, 9999)); await page.hover('.rows'); }, more);
  await shot(at, 'export-light', {}, async (page) => { await page.click('[data-tab=export]'); await page.evaluate(() => scrollTo(0, 9999)); }, more);
  await shot(at, 'notfound-light', {}, (page) => watch(page, 'What is the price of bananas in Chile?'), more);
  await shot('', 'library-light', {}, async (page) => {
    await page.click('header >> text=Add');
    await page.setInputFiles('[data-files]', [{ name: 'Broken recording.mp4', mimeType: 'video/mp4', buffer: Buffer.alloc(5000, 7) }, { name: 'Field notes.md', mimeType: 'text/markdown', buffer: Buffer.from('# Lamps\n\nThe lamp burns rapeseed oil. It needs trimming twice a night.\n\n# Fog\n\nIn fog the bell is struck every minute.\n') }]);
    await page.waitForSelector('[data-state=failed]');
    await page.waitForSelector('[data-source][data-state=done]:has-text("Field notes")');
    await page.waitForSelector('[data-source] img');
    await page.mouse.move(2, 2);
  }, more);
  await shot('', 'library-dark', { colorScheme: 'dark' }, async (page) => { await page.fill('header input', 'lens'); await page.waitForSelector('.hits li'); }, more);
  await shot('', 'library-phone', phone, (page) => page.waitForSelector('[data-source] img'), more);
  await shot('', 'library-answer', {}, async (page) => { await page.waitForSelector('[data-source] img'); await put(page, question); }, more);
  await shot('', 'document-light', {}, async (page) => { await page.click('[data-source]:has-text("Field notes") a'); await page.waitForSelector('.passage'); await put(page, 'What does the lamp burn?'); await page.click('[data-evidence]'); }, more);
  await shot('', 'add-light', {}, (page) => page.click('header >> text=Add'), more);
} finally {
  await browser.close();
  await service.stop();
}
