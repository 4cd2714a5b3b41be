import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { answerText, ask, finished, launch, loaded, withPage } from './browser.mjs';
import { Model } from './model.mjs';
import { Service, talk } from './service.mjs';

let browser, model, service, source;
before(async () => {
  [browser, model] = await Promise.all([launch(), Model.start()]);
  service = await Service.start(['--llm-url', model.url, '--llm-model', 'scripted']);
  source = (await service.ingest(talk)).source;
});
after(async () => {
  await browser?.close();
  await service?.stop();
  await model?.stop();
});

const on = (path, options, run) => withPage(browser, `${service.url}/${path}`, options, run);
const watching = (options, run) => on(`#/s/${source}`, options, async (page, opened) => {
  await loaded(page);
  await run(page, opened);
});
const ffmpeg = (...args) => execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args]);
/** Every moment shows its picture; one that is cut out of the recording takes a while. */
const pictures = (page) => page.waitForFunction(() => { const all = [...document.querySelectorAll('[data-evidence] img')]; return all.length > 0 && all.every((i) => i.complete && i.naturalWidth > 0); });
const halfWay = (page) => page.waitForFunction(() => (document.querySelector('[data-answer-text]')?.textContent.length ?? 0) > 30);

describe('watching', () => {
  it('makes a rendition of what the browser does not play, and draws the wave of a recording', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'reeltree-made-'));
    try {
      const [film, sound] = [join(dir, 'old.avi'), join(dir, 'old.mka')];
      ffmpeg('-i', talk, '-t', '40', '-c:v', 'mpeg4', '-c:a', 'ac3', film);
      ffmpeg('-i', talk, '-t', '40', '-vn', '-c:a', 'ac3', sound);
      await on(`#/s/${(await service.ingest(film)).source}?t=21`, { expectErrors: true }, async (page) => {
        await page.waitForFunction(() => { const v = document.querySelector('video'); return v?.src.includes('/rendition.mp4') && v.readyState > 1 && Math.abs(v.currentTime - 21) < 0.5; });
        const [length, making] = await page.evaluate(() => [document.querySelector('video').duration, !!document.querySelector('[data-making]')]);
        assert.ok(Math.abs(length - 40) < 0.5, `it lasts ${length} s`);
        assert.ok(!making, 'the note is gone');
      });
      await on(`#/s/${(await service.ingest(sound)).source}`, { expectErrors: true }, async (page) => {
        await page.waitForFunction(() => Number(document.querySelector('[data-waveform]')?.dataset.waveform) > 50);
        const inked = await page.$eval('[data-waveform]', (c) => { const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; return d.filter((v, i) => i % 4 === 3 && v > 0).length / (c.width * c.height); });
        assert.ok(inked > 0.02 && inked < 0.9, `${inked} of the canvas is drawn on`);
      });
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });

  it('goes from the library to the source, asks, and every time chip moves the player there', () => on('', {}, async (page) => {
    await page.click(`[data-source="${source}"] a`);
    await loaded(page);
    await ask(page, 'How far was the first lens seen?');
    await finished(page);
    const chips = await page.$$('[data-chip]');
    assert.ok(chips.length >= 2, `${chips.length} chips`);
    for (const chip of chips) {
      const href = await chip.getAttribute('href');
      const want = Number(/t=([\d.]+)/.exec(href)[1]);
      const at = await page.evaluate(async (c) => {
        const video = document.querySelector('video');
        video.playbackRate = 0.0625; // a busy machine reports the end of a seek late: little may have been played by then
        const seeked = new Promise((r) => video.addEventListener('seeked', r, { once: true }));
        c.click();
        await seeked;
        return video.currentTime;
      }, chip);
      assert.ok(Math.abs(at - want) <= 0.5, `the player is at ${at}, the chip says ${want}`);
      assert.equal(await page.evaluate(() => location.hash), href);
    }
  }));

  it('shows moments before words, and numbers that mean the same everywhere', () => watching({}, async (page) => {
    await ask(page, 'Who found the way out, slowly?');
    await page.waitForSelector('[data-evidence]');
    await page.waitForSelector('[data-stop]');
    model.release();
    await finished(page);
    const numbers = (selector, get) => page.$$eval(selector, (all, g) => all.map((e) => (g ? e.dataset.evidence : e.textContent.trim())).sort(), get);
    assert.deepEqual(await numbers('.mark', false), await numbers('[data-evidence]', true));
    await pictures(page);
  }));

  it('says so when the model refused and the evidence answers instead', () => watching({}, async (page) => {
    await ask(page, 'How heavy was a lens of the first order, unpaid?');
    await finished(page);
    assert.match(await page.textContent('[data-answer-note]'), /chat model failed.*key/s);
    assert.ok((await page.textContent('[data-answer-text]')).trim().length > 20);
    await ask(page, 'How heavy was a lens of the first order?');
    await finished(page);
    assert.equal(await page.locator('article', { hasText: 'How heavy was a lens of the first order?' }).locator('[data-answer-note]').count(), 0);
  }));

  it('cites each sentence of a summary where it is said, and its titles where they begin', () => watching({}, async (page) => {
    await ask(page, 'What is this about?');
    await finished(page);
    const said = await page.$$eval('[data-answer-text]', (all) => all.at(-1).innerText.replaceAll('\u00a0', ' '));
    for (const [words, time] of [['The idea of rings', '0:00:44'], ['on a clear night.', '0:00:20'], ['fit into a wallet.', '0:02:10']]) {
      assert.match(said, new RegExp(`${words}\\s*${time}`));
    }
  }));

  it('opens a deep link at its second', () => on(`#/s/${source}?t=88.5`, {}, async (page) => {
    await page.waitForFunction(() => Math.abs((document.querySelector('video')?.currentTime ?? 0) - 88.5) < 0.5);
  }));

  it('plays the cited moments one after the other', () => watching({}, async (page) => {
    await ask(page, 'What does the mercury do?');
    await finished(page);
    const starts = await page.$$eval('[data-chip]', (all) => [...new Set(all.map((a) => Number(/t=([\d.]+)/.exec(a.href)[1])))].sort((a, b) => a - b));
    const seeks = page.evaluate((n) => new Promise((r) => {
      const at = [];
      const video = document.querySelector('video');
      const { get, set } = Object.getOwnPropertyDescriptor(HTMLMediaElement.prototype, 'currentTime');
      video.playbackRate = 8;
      Object.defineProperty(video, 'currentTime', { get, set(to) { set.call(this, to); at.push(to); if (at.length === n) r(at); } });
    }), starts.length);
    await page.click('text=/Play the/');
    assert.deepEqual(await seeks, starts);
  }));

  it('follows the keyboard of video sites', () => on(`#/s/${source}?t=60`, {}, async (page) => {
    const near = (want) => page.waitForFunction((w) => Math.abs((document.querySelector('video')?.currentTime ?? 0) - w) < 0.6, want);
    await near(60);
    for (const [key, want] of [['l', 70], ['j', 60], ['ArrowLeft', 55], ['ArrowRight', 60], ['5', 77.8]]) {
      await page.keyboard.press(key);
      await near(want);
    }
    await page.keyboard.press(' ');
    await page.waitForFunction(() => !document.querySelector('video').paused);
    await page.keyboard.press('k');
    await page.waitForFunction(() => document.querySelector('video').paused);
    const at = await page.evaluate(() => document.querySelector('video').currentTime);
    await page.keyboard.press('/');
    await page.keyboard.type('j k l 5 /');
    assert.equal(await page.inputValue('#question'), 'j k l 5 /');
    assert.equal(await page.evaluate(() => document.querySelector('video').currentTime), at);
  }));

  it('says honestly what is not there', () => watching({}, async (page) => {
    await ask(page, 'What is the price of bananas in Chile?');
    await finished(page);
    await page.waitForSelector('text=Nearest moments');
    assert.ok(await page.$('[data-evidence]'));
  }));
});

describe('streams', () => {
  it('a reload in the middle of an answer shows all of it once', () => watching({}, async (page) => {
    const question = 'Why was one large lens not cast, slowly?';
    await ask(page, question);
    await halfWay(page);
    const before = await answerText(page);
    await page.reload();
    await page.waitForFunction((n) => (document.querySelector('[data-answer-text]')?.textContent.length ?? 0) >= n, before.length);
    assert.ok((await answerText(page)).startsWith(before));
    model.release();
    await finished(page);
    const shown = await answerText(page);
    const { text, done } = await service.recorded(question);
    assert.ok(shown.length > before.length);
    assert.equal(shown, text);
    assert.equal(createHash('sha256').update(shown).digest('hex'), done.text_sha256);
    await page.reload(); // finished ones too
    await finished(page);
    assert.equal(await answerText(page), shown);
  }));

  it('a lost network resumes where it was', () => watching({ expectErrors: true }, async (page, { context }) => {
    const question = 'What gives a lighthouse its rhythm, slowly?';
    let cut = () => {};
    await page.routeWebSocket(/\/v1\/ws/, (ws) => { ws.connectToServer(); cut = () => ws.close({ code: 1012 }); });
    await page.reload();
    await page.waitForSelector('video');
    await ask(page, question);
    await halfWay(page);
    await context.setOffline(true);
    cut();
    await page.waitForSelector('.banner.on');
    model.release();
    await context.setOffline(false);
    await finished(page);
    await page.waitForSelector('.banner:not(.on)', { state: 'attached' });
    assert.equal(await answerText(page), (await service.recorded(question)).text);
  }));

  it('stop stops', () => watching({}, async (page) => {
    await ask(page, 'What do solar plants use, slowly?');
    await page.waitForSelector('[data-answer-text]');
    await page.click('[data-stop]');
    await finished(page);
    await page.waitForSelector('text=Stopped.');
    model.release();
  }));

  it('a restart of the service starts a running answer over and joins nothing', () => watching({ expectErrors: true }, async (page) => {
    const question = 'Where are the same rings today, slowly?';
    await ask(page, question);
    await halfWay(page);
    await service.restart('SIGKILL');
    const let_go = setInterval(() => model.release(), 50); // the new run holds at its own middle
    await finished(page).finally(() => clearInterval(let_go));
    assert.equal(await answerText(page), (await service.recorded(question)).text);
  }));
});

describe('adding', () => {
  it('an upload appears, is read and can be asked; deleting can be undone; a hostile name stays a name', () => on('', {}, async (page) => {
    await page.click('header >> text=Add');
    await page.setInputFiles('[data-files]', [{ name: '<img src=x onerror=alert(1)>.md', mimeType: 'text/markdown', buffer: Buffer.from('# Bees\n\nA bee dances to tell where flowers are.\n\n# Ants\n\nAnts follow a trail of <script>alert(2)</script> scent.\n') }]);
    const card = await page.waitForSelector('[data-source][data-state="done"]:has-text("onerror")');
    await card.$eval('.remove', (b) => b.click());
    await page.click('text=Undo');
    await page.click('[data-source]:has-text("onerror") a');
    await page.waitForSelector('text=A bee dances');
    await ask(page, 'How does a bee tell where flowers are?');
    await finished(page);
    await page.click('[data-chip]');
    await page.waitForSelector('.passage.here');
  }));

  it('a broken file fails with one sentence, a wrong address is refused in words', () => on('', { expectErrors: true }, async (page) => {
    await page.click('header >> text=Add');
    await page.fill('#address', 'nonsense');
    await page.click('dialog >> button:has-text("Add")');
    await page.waitForSelector('text=must begin with http');
    await page.setInputFiles('[data-files]', [{ name: 'broken.mp4', mimeType: 'video/mp4', buffer: Buffer.alloc(5000, 7) }]);
    await page.waitForSelector('[data-state="failed"]:has-text("broken") >> text=/is not a video or audio format.*check that it is the right file/');
  }));

  it('asks the whole library, and a moment opens its source with the answer beside it', () => on('', {}, async (page) => {
    await page.waitForSelector(`[data-source="${source}"]`);
    await ask(page, 'How far was the first lens at Cordouan seen?');
    await finished(page);
    await page.click('[data-evidence] >> nth=0');
    await page.waitForFunction(() => location.hash.startsWith('#/s/'));
    await page.waitForSelector('[data-answer-text]');
    assert.equal(await page.textContent('[role=radio][aria-checked=true]'), 'Whole library');
  }));
});

describe('a token', () => {
  it('is asked for, refused when wrong, and opens everything when right', async () => {
    const guarded = await Service.start(['--token', 'open-sesame']);
    try {
      await withPage(browser, `${guarded.url}/`, { expectErrors: true }, async (page) => {
        await page.fill('#token', 'wrong');
        await page.keyboard.press('Enter');
        await page.waitForSelector('text=was not accepted');
        await page.fill('#token', 'open-sesame');
        await page.keyboard.press('Enter');
        await page.waitForSelector('text=Add something to watch');
        await page.setInputFiles('main input[type=file]', talk);
        await page.click('[data-source][data-state="done"] a');
        await loaded(page); // by ticket
        await ask(page, 'How far was the first lens seen?');
        await finished(page);
        await pictures(page);
      });
    } finally {
      await guarded.stop();
    }
  });
});
