// What makes the page pleasant: previews, a transcript that follows, places
// that are remembered, a shelf in order, things dropped and pasted anywhere.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ask, finished, launch, loaded, withPage } from './browser.mjs';
import { Model } from './model.mjs';
import { Service, talk } from './service.mjs';

let browser, model, service, source;
before(async () => {
  [browser, model] = await Promise.all([launch(), Model.start()]);
  service = await Service.start(['--llm-url', model.url, '--llm-model', 'scripted']);
  source = (await service.ingest('--collection', 'Lights', talk)).source;
});
after(async () => {
  await browser?.close();
  await service?.stop();
  await model?.stop();
});

const on = (path, options, run) => withPage(browser, `${service.url}/${path}`, options, run);
const watching = (query, run) => on(`#/s/${source}${query}`, {}, async (page, opened) => {
  await loaded(page);
  await page.waitForSelector('.sections .seg');
  await run(page, opened);
});
const at = (page, want) => page.waitForFunction((w) => Math.abs((document.querySelector('video')?.currentTime ?? -9) - w) < 0.6, want);
/** Drops a file, or pastes or drops a text, anywhere on the page. */
const bring = (page, type, { file, text }) => page.evaluate(([t, f, words]) => {
  const data = new DataTransfer();
  if (f) data.items.add(new File([f.content], f.name));
  else data.setData('text/plain', words);
  document.body.dispatchEvent(t === 'drop' ? new DragEvent(t, { dataTransfer: data, bubbles: true, cancelable: true }) : new ClipboardEvent(t, { clipboardData: data, bubbles: true }));
}, [type, file, text]);
const texts = (page, selector) => page.$$eval(selector, (all) => all.map((e) => e.textContent.trim()));

describe('the timeline', () => {
  it('shows chapters and sections where they are, as the tree says', () => watching('', async (page) => {
    const { roots, metadata } = await (await fetch(`${service.url}/v1/sources/${source}/tree`)).json();
    const sections = roots.flatMap((r) => r.children);
    const drawn = (row) => page.$$eval(`.${row} .seg`, (all) => all.map((e) => [e.offsetLeft, e.offsetWidth].map((px) => px / e.parentElement.offsetWidth)));
    for (const [row, nodes] of [['chapters', roots], ['sections', sections]]) {
      const places = await drawn(row);
      assert.equal(places.length, nodes.length);
      nodes.forEach(({ time_range: [start, end] }, i) => {
        assert.ok(Math.abs(places[i][0] - start / metadata.source.duration_ms) < 0.01, `${row} ${i} begins at ${places[i][0]}`);
        assert.ok(Math.abs(places[i][1] - (end - start) / metadata.source.duration_ms) < 0.01, `${row} ${i} is ${places[i][1]} wide`);
      });
    }
    assert.deepEqual(await texts(page, '.sections .seg'), sections.map((s) => s.evidence.title));
  }));

  it('previews what is under the pointer, and seeks there, also in the player', () => watching('', async (page) => {
    for (const line of ['.rows', '.scrub']) {
      const box = await (await page.$(line)).boundingBox();
      await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
      await page.waitForFunction(() => document.querySelector('[data-preview] img')?.naturalWidth > 0);
      assert.match(await page.textContent('[data-preview] time'), /^0:01:1[78]$/); // half of 155.6 s
      await page.mouse.click(box.x + box.width / 4, box.y + box.height / 2);
      await at(page, 38.9);
      await page.mouse.move(2, 2);
      await page.waitForSelector('[data-preview]', { state: 'detached' });
    }
  }));
});

describe('the transcript', () => {
  it('follows the player and leads it', () => watching('?t=90', async (page) => {
    await page.waitForFunction(() => document.querySelector('li[aria-current]'));
    const line = await page.$('[role=tabpanel] li:nth-last-child(1) a');
    const want = Number(/t=([\d.]+)/.exec(await line.getAttribute('href'))[1]);
    await line.click();
    await at(page, want);
    await page.waitForSelector('[role=tabpanel] li:nth-last-child(1)[aria-current]');
    const inView = () => {
      const [list, now] = [document.querySelector('[role=tabpanel] ol'), document.querySelector('li[aria-current]')].map((e) => e?.getBoundingClientRect());
      return now && now.top >= list.top - 1 && now.bottom <= list.bottom + 1;
    };
    await page.waitForFunction(inView);
    await page.keyboard.press('0');
    await page.waitForSelector('[role=tabpanel] li:nth-child(1)[aria-current]');
    await page.waitForFunction(inView);
  }));

  it('finds words and plays from them', () => watching('', async (page) => {
    const all = await page.$$eval('[role=tabpanel] li', (e) => e.length);
    await page.fill('[data-find]', 'MERCURY');
    await page.waitForFunction((n) => { const now = document.querySelectorAll('[role=tabpanel] li').length; return now > 0 && now < n; }, all);
    for (const text of await texts(page, '[role=tabpanel] mark')) assert.equal(text, 'mercury');
    const line = await page.$('[role=tabpanel] li a');
    await line.click();
    await at(page, Number(/t=([\d.]+)/.exec(await line.getAttribute('href'))[1]));
    await page.press('[data-find]', 'Escape');
    await page.waitForFunction((n) => document.querySelectorAll('[role=tabpanel] li').length === n, all);
  }));
});

describe('captions without their film', () => {
  it('are read, searched, asked and led to like a transcript', async () => {
    const lines = ['The harbour opens at dawn.', 'Pilots come aboard at the buoy.', 'Fog closes the harbour mouth.'];
    const at = (i) => `00:${String(10 * i).padStart(2, '0')}:05,000`;
    const path = await written('Harbour.srt', lines.map((line, i) => `${i + 1}\n${at(i)} --> ${at(i).replace('05,', '09,')}\n${line}\n`).join('\n'));
    const { source: captions } = await service.ingest(path);
    await on(`#/s/${captions}`, {}, async (page) => {
      await page.waitForSelector('.captions li');
      assert.deepEqual(await texts(page, '.captions li span'), lines);
      await ask(page, 'Where do pilots come aboard?');
      await finished(page);
      const chip = await page.$('[data-chip]');
      await chip.click();
      await page.waitForSelector('.captions li[aria-current]');
      assert.equal(await page.textContent('.captions li[aria-current] time'), (await chip.textContent()).trim());
    });
    await fetch(`${service.url}/v1/sources/${captions}`, { method: 'DELETE' }); // the library is as before
  });
});

describe('memory', () => {
  it('goes on where a video was left, unless the link says where', () => watching('?t=100', async (page) => {
    await at(page, 100);
    await page.goto(`${service.url}/#/`);
    await page.waitForSelector(`[data-source="${source}"] .seen`);
    await page.click(`[data-source="${source}"] a`);
    await loaded(page);
    await at(page, 100);
    await page.goto(`${service.url}/#/s/${source}?t=30`);
    await at(page, 30);
  }));

  it('shows what was asked before to a page that knows nothing', async () => {
    const question = 'How heavy was a lens of the first order?';
    let said;
    await watching('', async (page) => {
      await ask(page, question);
      await finished(page);
      said = await page.textContent('[data-answer-text]');
    });
    await watching('', async (page) => {
      await page.click(`[data-before]:has-text("${question}")`);
      await finished(page);
      assert.equal(await page.textContent('[data-answer-text]'), said);
      await page.reload();
      await finished(page);
      assert.equal(await page.textContent('[data-answer-text]'), said);
    });
  });

  it('offers the topics of a source as questions', () => watching('', async (page) => {
    const topic = await page.waitForSelector('[data-topic]');
    const title = (await topic.textContent()).trim();
    await topic.click();
    await finished(page);
    assert.ok((await page.textContent('[data-phase] h2')).includes(title));
    assert.ok(await page.$('[data-chip]'));
  }));

  it('copies a link to the moment', () => watching('?t=42.7', async (page, { context }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await at(page, 42.7);
    await page.click('[data-share]');
    await page.waitForSelector('[data-share] >> text=copied');
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `${service.url}/#/s/${source}?t=42`);
  }));
});

describe('the shelf', () => {
  it('takes what is dropped or pasted anywhere, and stands in the wished order', () => on('', { expectErrors: true }, async (page) => {
    await page.waitForSelector(`[data-source="${source}"]`);
    await bring(page, 'drop', { file: { name: 'Amber light.md', content: '# Amber\n\nAmber lights warn of the sandbank.\n' } });
    await page.waitForSelector('[data-source][data-state="done"]:has-text("Amber light")');
    await bring(page, 'drop', { text: 'http://127.0.0.1:1/dropped.mp4' });
    await page.waitForSelector('[data-incoming="failed"]:has-text("dropped.mp4")');
    await bring(page, 'paste', { text: 'http://127.0.0.1:1/pasted.mp4' });
    await page.waitForSelector('[data-incoming="failed"]:has-text("pasted.mp4")');

    const titles = () => texts(page, '[data-source] .title');
    assert.deepEqual(await titles(), ['Amber light', 'talk']);
    await page.selectOption('[data-order]', 'longest');
    assert.deepEqual(await titles(), ['talk', 'Amber light']);
    await page.reload(); // the order is remembered
    await page.waitForSelector('[data-source]');
    assert.deepEqual(await titles(), ['talk', 'Amber light']);
    await page.click('[data-kind=document]');
    assert.deepEqual(await titles(), ['Amber light']);
    await page.click('[data-kind=all]');
    await page.fill('header input', 'lights tal'); // collection and title
    assert.deepEqual(await titles(), ['talk']);
  }));

  it('deletes ten seconds after the click, and not before', () => on('', {}, async (page) => {
    await page.clock.install();
    const { source: doomed } = await service.ingest(await written('Doomed.md', '# Doomed\n\nThis goes away.\n'));
    const card = await page.waitForSelector(`[data-source="${doomed}"][data-state="done"]`);
    const deletions = [];
    page.on('request', (r) => { if (r.method() === 'DELETE') deletions.push(r.url()); });
    await card.$eval('.remove', (b) => b.click());
    await page.waitForSelector('text=Undo');
    await page.clock.fastForward(9000);
    assert.deepEqual(deletions, []);
    assert.equal((await fetch(`${service.url}/v1/sources/${doomed}`)).status, 200);
    const answered = page.waitForResponse((r) => r.request().method() === 'DELETE');
    await page.clock.fastForward(1500);
    assert.equal((await answered).status(), 204);
    await page.waitForSelector('text=Undo', { state: 'detached' });
    assert.equal((await fetch(`${service.url}/v1/sources/${doomed}`)).status, 404);
  }));
});

async function written(name, text) {
  const path = join(service.data, name);
  await writeFile(path, text);
  return path;
}
