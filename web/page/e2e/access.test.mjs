// The main screens hold to WCAG 2.2 AA as far as a machine can tell, in both
// themes, and fit a small phone.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { after, before, describe, it } from 'node:test';
import { ask, finished, launch, loaded, withPage } from './browser.mjs';
import { Model } from './model.mjs';
import { Service, talk } from './service.mjs';

let browser, model, service, source, axe;
before(async () => {
  axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  [browser, model] = await Promise.all([launch(), Model.start()]);
  service = await Service.start(['--llm-url', model.url, '--llm-model', 'scripted']);
  source = (await service.ingest(talk)).source;
});
after(async () => {
  await browser?.close();
  await service?.stop();
  await model?.stop();
});

const sizes = { wide: { viewport: { width: 1440, height: 900 } }, phone: { viewport: { width: 360, height: 780 }, hasTouch: true, isMobile: true } };
const asked = (question) => async (page) => {
  await loaded(page);
  await ask(page, question);
  await finished(page);
};
const screens = {
  library: ['', (page) => page.waitForSelector('[data-source] img')],
  answer: ['watch', asked('How far was the first lens seen?')],
  'not found': ['watch', asked('What is the price of bananas in Chile?')],
  chapters: ['watch', (page) => page.click('[data-tab=chapters]')],
  adding: ['', (page) => page.click('header >> text=Add')],
};

describe('without barriers', () => {
  for (const [size, view] of Object.entries(sizes)) for (const [name, [place, prepare]] of Object.entries(screens)) {
    it(`${name}, ${size}`, () => withPage(browser, `${service.url}/${place ? `#/s/${source}` : ''}`, { ...view, reducedMotion: 'reduce' }, async (page) => {
      await prepare(page);
      await page.evaluate(axe);
      for (const colorScheme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme });
        const { violations } = await page.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }));
        assert.deepEqual(violations.map((v) => `${colorScheme} ${v.id}: ${v.nodes.map((n) => n.target.join(' ')).join(', ')}`), []);
      }
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page scrolls sideways');
    }));
  }
});
