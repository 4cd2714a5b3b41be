// A source that is read for long: what the page says meanwhile, and pause,
// going on and stopping from the page.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { launch, loaded, withPage } from './browser.mjs';
import { Model } from './model.mjs';
import { Service, talk } from './service.mjs';

let browser, model, service;
before(async () => {
  [browser, model] = await Promise.all([launch(), Model.start()]);
  service = await Service.start(['--vlm-url', model.url, '--vlm-model', 'scripted', '--concurrency', '1']);
});
after(async () => {
  await browser?.close();
  await service?.stop();
  await model?.stop();
});

describe('a long job', () => {
  it('says in words what it does, can be paused, goes on, and ends in a page that can be watched', () => withPage(browser, `${service.url}/`, {}, async (page) => {
    model.describes = 2; // its first section, whole
    await page.waitForSelector('text=Add something to watch');
    await page.setInputFiles('main input[type=file]', talk);
    const card = await page.waitForSelector('[data-source][data-state="running"]');
    await page.waitForSelector('[data-source] >> text=/Describing, \\d+ %/');
    await page.waitForSelector('[data-source] >> text=/Ready up to 0:0\\d:\\d\\d, ask already/');
    await page.waitForSelector('[data-source] progress');
    await page.click('[data-source] >> text=Pause');
    await page.waitForSelector('[data-source][data-state="paused"] >> text=Paused');
    await page.click('[data-source] >> text=Go on');
    await page.waitForSelector('[data-source][data-state="running"]');
    model.describes = Infinity;
    const letGo = setInterval(() => model.release(), 50); // calls that were on their way
    await page.waitForSelector('[data-source][data-state="done"]').finally(() => clearInterval(letGo));
    assert.equal(await card.$('progress'), null);
    await page.click('[data-source] a');
    await loaded(page);
    await page.waitForSelector('.sections .seg');
  }));
});
