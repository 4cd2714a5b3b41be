// One Chromium, and pages that report whatever the policy of the page forbids.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

/** What a loaded machine may take for one step; a wait ends as soon as its condition holds. */
const patience = 90_000;

export async function launch() {
  const home = await mkdtemp(join(tmpdir(), 'reeltree-home-'));
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    headless: true,
    timeout: patience,
    env: { ...process.env, HOME: home },
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
      '--disable-sync', '--autoplay-policy=no-user-gesture-required'],
  });
  browser.on('disconnected', () => { void rm(home, { recursive: true, force: true, maxRetries: 5 }); });
  return browser;
}

/** A page in a context of its own; `faults` collects errors, policy reports and foreign requests. */
export async function open(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  const faults = [];
  page.on('pageerror', (e) => faults.push(`error: ${e.message}`));
  page.on('console', (m) => { if (m.type() === 'error' && (!options.expectErrors || m.text().startsWith('policy'))) faults.push(`console: ${m.text()} ${m.location().url}`); });
  page.on('request', (r) => { if (!/^(data|blob):/.test(r.url()) && new URL(r.url()).host !== new URL(url).host) faults.push(`foreign: ${r.url()}`); });
  await page.addInitScript(() => addEventListener('securitypolicyviolation', (e) => console.error(`policy: ${e.violatedDirective} ${e.blockedURI}`)));
  await page.goto(url);
  return { page, context, faults };
}

/** Runs a test on a new page and fails if the page did anything it may not. */
export async function withPage(browser, url, options, run) {
  const opened = await open(browser, url, options);
  try {
    await run(opened.page, opened);
    assert.deepEqual(opened.faults, []);
  } finally {
    await opened.context.close();
  }
}

export async function ask(page, question) {
  await page.keyboard.press('/');
  await page.keyboard.type(question);
  await page.keyboard.press('Enter');
}

/** The media element knows its length. */
export const loaded = (page) => page.waitForFunction(() => document.querySelector('video')?.readyState >= 1);

export const finished = (page) => page.waitForSelector('[data-phase="done"]');

/** The words of the answer as they stand on the page, without its chips. */
export const answerText = (page) => page.$eval('[data-answer-text]', (e) => [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data).join(''));
