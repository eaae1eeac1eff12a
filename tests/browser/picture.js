// A picture of what a window shows of a page: node picture.js ADDRESS FILE.png WIDTH HEIGHT light|dark. For docs/pictures/make.py.
import { browser, open } from './lib/browser.js';

const [address = '', file = '', width = '1100', height = '840', scheme = 'light'] = process.argv.slice(2);
const page = await open(address, { width: Number(width), height: Number(height), scheme: scheme === 'dark' ? 'dark' : 'light' });
await page.waitForTimeout(500);
await page.screenshot({ path: file });
await browser.close();
