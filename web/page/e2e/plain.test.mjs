// The page of a build without Node: the binary is built as if Vite had never
// run, and its one page must ask, watch and jump.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { after, before, describe, it } from 'node:test';
import { launch, loaded, withPage } from './browser.mjs';
import { Model } from './model.mjs';
import { root, Service, talk } from './service.mjs';

let browser, model, service, source, folder;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeltree-plain-'));
  const [binary, overlay, dist] = [join(folder, 'reeltree'), join(folder, 'overlay.json'), join(root, 'web/static/dist')];
  const built = await readdir(dist, { recursive: true, withFileTypes: true }).catch(() => []);
  const gone = built.filter((f) => f.isFile()).map((f) => [join(f.parentPath, f.name), '']);
  await writeFile(overlay, JSON.stringify({ Replace: Object.fromEntries(gone) })); // an empty name means: not there
  await promisify(execFile)('go', ['build', '-trimpath', '-overlay', overlay, '-o', binary, '.'], { cwd: root });
  [browser, model] = await Promise.all([launch(), Model.start()]);
  service = await Service.start(['--llm-url', model.url, '--llm-model', 'scripted'], binary);
  source = (await service.ingest(talk)).source;
});
after(async () => {
  await browser?.close();
  await service?.stop();
  await model?.stop();
  await rm(folder, { recursive: true, force: true });
});

const on = (path, run) => withPage(browser, `${service.url}/${path}`, {}, run);
const at = (page, want) => page.waitForFunction((w) => Math.abs((document.querySelector('video')?.currentTime ?? -9) - w) <= 0.5, want);

describe('the plain page', () => {
  it('asks, streams an answer, and every time jumps the player there', () => on('', async (page) => {
    await loaded(page);
    await page.fill('#question', 'How heavy was a lens of the first order?');
    await page.press('#question', 'Enter');
    await page.waitForSelector('#answer[data-finished]');
    const said = await page.$eval('#answer', (e) => [...e.childNodes].filter((n) => n.nodeType === 3 && n.data !== ' ').map((n) => n.data).join(''));
    assert.equal(said, (await service.recorded('How heavy was a lens of the first order?')).text);
    const links = await page.$$('#answer a.time, #evidence a.time');
    assert.ok(links.length >= 2, `${links.length} times`);
    for (const link of links) {
      await page.$eval('video', (v) => { v.playbackRate = 0.0625; });
      await link.click();
      await at(page, Number(/t=([\d.]+)/.exec(await link.getAttribute('href'))[1]));
    }
    assert.ok(await page.$$eval('#evidence img', (all) => all.length > 0 && all.every((i) => i.naturalWidth > 0)));
  }));

  it('opens a deep link at its second', () => on(`#/s/${source}?t=88.5`, (page) => at(page, 88.5)));

  it('takes a file in and says what became of it', () => on('', async (page) => {
    await loaded(page);
    await page.setInputFiles('#file', { name: 'bees.md', mimeType: 'text/markdown', buffer: Buffer.from('# Bees\n\nA bee dances to tell where flowers are.\n') });
    await page.waitForFunction(() => [...document.querySelectorAll('#source option')].some((o) => o.textContent === 'bees.md (done)'));
    await page.selectOption('#source', { label: 'bees.md (done)' });
    await page.fill('#question', 'How does a bee tell where flowers are?');
    await page.press('#question', 'Enter');
    await page.waitForSelector('#answer[data-finished]');
    assert.match(await page.textContent('#answer'), /bee dances/);
  }));
});
