// Whatever is said, written or named in a source is text: nothing of it runs,
// loads or leaves the service, wherever the page shows it.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ask, finished, launch, withPage } from './browser.mjs';
import { Model } from './model.mjs';
import { Service } from './service.mjs';

const ran = 'window.ran=1';
const payloads = [
  `<script>${ran}</script>`, `<img src=x onerror=${ran}>`, `<svg onload=${ran}>`, `<svg><script>${ran}</script></svg>`, `<iframe src="javascript:parent.ran=1"></iframe>`,
  `<iframe srcdoc="<script>parent.ran=1</script>"></iframe>`, `<a href="javascript:${ran}">link</a>`, `[link](javascript:${ran})`, `![p](https://evil.example/x.png)`, `![p](x" onerror="${ran})`,
  `<body onload=${ran}>`, `<input autofocus onfocus=${ran}>`, `<details open ontoggle=${ran}>`, `<video><source onerror=${ran}></video>`, `<audio src=x onerror=${ran}>`,
  `<object data="javascript:${ran}"></object>`, `<embed src="javascript:${ran}">`, `<math><mtext><script>${ran}</script></mtext></math>`, `<style>@import 'https://evil.example/x.css';</style>`, `<link rel=stylesheet href=https://evil.example/x.css>`,
  `<meta http-equiv=refresh content="0;url=https://evil.example/">`, `<base href="https://evil.example/">`, `<form action=https://evil.example><button>go</button></form>`, `"><script>${ran}</script>`, `'><img src=x onerror=${ran}>`,
  `</p><script>${ran}</script>`, `</textarea><script>${ran}</script>`, `</title><script>${ran}</script>`, `<!--><script>${ran}</script>-->`, `<![CDATA[<script>${ran}</script>]]>`,
  `{{constructor.constructor('${ran}')()}}`, `\${${ran}}`, `{@html '<script>${ran}</script>'}`, `<template><script>${ran}</script></template>`, `<xss style="animation-name:x" onanimationstart=${ran}>`,
  `<div style="background:url(https://evil.example/x)">`, `<img srcset="https://evil.example/x 1x">`, `<button popovertarget=x>go</button><xss onbeforetoggle=${ran} popover id=x>`, `&lt;script&gt;${ran}&lt;/script&gt;`, `\u202E<script>${ran}</script>`,
];

let browser, model, service;
before(async () => {
  [browser, model] = await Promise.all([launch(), Model.start()]);
  service = await Service.start(['--llm-url', model.url, '--llm-model', 'scripted']);
});
after(async () => {
  await browser?.close();
  await service?.stop();
  await model?.stop();
});

/** Nothing ran, and nothing but the page's own elements stands in it. */
async function harmless(page) {
  assert.equal(await page.evaluate(() => window.ran), undefined);
  const strange = await page.evaluate(() => {
    const allowed = new Set([...document.querySelectorAll('head script[type=module], head link, head meta')]);
    const forbidden = [...document.querySelectorAll('script, iframe, object, embed, base, link, meta, style, xss, math, form[action]')].filter((e) => !allowed.has(e));
    const handlers = [...document.querySelectorAll('*')].filter((e) => [...e.attributes].some((a) => /^on/i.test(a.name) || /^\s*javascript:/i.test(a.value)));
    return [...forbidden, ...handlers].map((e) => e.outerHTML.slice(0, 120));
  });
  assert.deepEqual(strange, []);
}

describe('hostile material', () => {
  it('stays text in captions, titles, evidence, answers and search', async () => {
    const stamp = (s) => `00:${String(Math.floor(s / 60)).padStart(2, '0')}:${String(s % 60).padStart(2, '0')},000`;
    const path = join(service.data, 'captions.srt');
    await writeFile(path, payloads.map((p, i) => `${i + 1}\n${stamp(4 * i)} --> ${stamp(4 * i + 3)}\nharbour ${i} ${p} light\n`).join('\n'));
    const { source } = await service.ingest(path);
    await withPage(browser, `${service.url}/#/s/${source}`, {}, async (page) => {
      await page.waitForSelector('.captions li');
      await harmless(page);
      for (const question of ['What about the harbour light?', `${payloads[0]} ${payloads[1]} harbour`]) {
        await ask(page, question);
        await finished(page);
        await harmless(page);
      }
      await page.click('details summary');
      await page.fill('[data-find]', '<');
      await page.waitForSelector('.captions mark');
      await harmless(page);
      await page.fill('header input', 'harbour light');
      await page.waitForSelector('.hits [data-evidence]');
      await harmless(page);
    });
  });

  it('stays text in documents, whose names are hostile too', () => withPage(browser, `${service.url}/`, {}, async (page) => {
    const text = payloads.map((p, i) => `# Part ${i} ${p}\n\nThe lamp of part ${i} says \`${p}\` to ships.\n`).join('\n');
    await page.setInputFiles('[data-files]', [{ name: `${payloads[1]}.md`, mimeType: 'text/markdown', buffer: Buffer.from(text) }]);
    await page.click('[data-source][data-state="done"]:has-text("onerror") a');
    await page.waitForSelector('.passage');
    await harmless(page);
    await ask(page, 'What does the lamp say to ships?');
    await finished(page);
    await page.click('[data-evidence]');
    await page.waitForSelector('.passage.here');
    await harmless(page);
    assert.ok((await page.title()).startsWith(payloads[1]));
  }));
});
