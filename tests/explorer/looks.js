// What is wrong with how a page looks, as a list of sentences: text below the contrast that WCAG asks for at level AA,
// text over other text, text that is cut off, and a page wider than its window. An expression, for `Page.run`.
(() => {
  const paper = matchMedia('print').matches; // There, nobody can scroll.
  const lum = (c) => { const f = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    return 0.2126 * f(c[0]) + 0.7152 * f(c[1]) + 0.0722 * f(c[2]); };
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const known = new Map();
  const rgba = (text) => {
    if (!known.has(text)) {
      canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1);
      const d = canvas.getImageData(0, 0, 1, 1).data;
      known.set(text, [d[0], d[1], d[2], d[3] / 255]);
    }
    return [...known.get(text)];
  };
  const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3]));
  const ground = (e) => { const stack = [];
    for (; e; e = e.parentElement) stack.push(rgba(getComputedStyle(e).backgroundColor));
    return stack.reverse().reduce((b, a) => over(a, b), [255, 255, 255]); };

  // In a picture, the shapes that were drawn before a text and lie behind its middle are its ground.
  const shapes = new Map();
  const behind = (element, box, back) => {
    const picture = element.closest('svg');
    if (!shapes.has(picture)) {
      shapes.set(picture, [...picture.querySelectorAll('rect, circle, ellipse')].map((one) => {
        const style = getComputedStyle(one), fill = rgba(style.fill === 'none' ? 'transparent' : style.fill);
        fill[3] *= Number(style.fillOpacity) * Number(style.opacity);
        return {one, fill, box: one.getBoundingClientRect()};
      }));
    }
    const x = box.x + box.width / 2, y = box.y + box.height / 2;
    for (const {one, fill, box: b} of shapes.get(picture)) {
      const before = one.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING;
      if (before && b.left <= x && x <= b.right && b.top <= y && y <= b.bottom) back = over(fill, back);
    }
    return back;
  };

  const found = new Map();
  const say = (kind, element, more, text) => {
    const key = `${kind} ${element.tagName.toLowerCase()}.${element.getAttribute('class') ?? ''}`;
    if (!found.has(key)) found.set(key, `${key} ${more} “${text.trim().replace(/\s+/g, ' ').slice(0, 40)}”`);
  };
  const placed = new Map();
  const floats = (e) => { // Menus and bars that stay where they are while the page moves below them.
    if (!e) return false;
    if (!placed.has(e)) placed.set(e, ['fixed', 'sticky'].includes(getComputedStyle(e).position) || floats(e.parentElement));
    return placed.get(e);
  };
  const boxes = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, element = node.parentElement, text = node.textContent;
    if (!text.trim() || !element.checkVisibility?.({opacityProperty: true, visibilityProperty: true})) continue;
    if (['OPTION', 'TITLE', 'STYLE', 'SCRIPT'].includes(element.tagName.toUpperCase())) continue;
    const box = element.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) continue;
    const style = getComputedStyle(element), svg = element.namespaceURI.endsWith('svg');
    const ink = rgba(svg ? style.fill : style.color);
    ink[3] *= svg ? Number(style.fillOpacity) : 1;
    let back = ground(svg ? element.closest('svg').parentElement : element);
    if (svg) back = behind(element, box, back);
    const [a, b] = [lum(over(ink, back)), lum(back)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize);
    const need = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    if (ratio < need - 0.01) say('contrast', element, ratio.toFixed(2), text);

    if (floats(element)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const one of range.getClientRects()) {
      if (one.width < 2 || one.height < 2) continue;
      let [seen, shown, inside] = [true, one, false];
      for (let e = element; e && e !== document.body; e = e.parentElement) {
        const [x, y] = [getComputedStyle(e).overflowX, getComputedStyle(e).overflowY];
        if (x === 'visible' && y === 'visible') continue;
        const edge = e.getBoundingClientRect();
        if (edge.width < 2 || edge.height < 2) { seen = false; break; } // For screen readers only.
        if (!paper && (['auto', 'scroll'].includes(x) || ['auto', 'scroll'].includes(y))) {
          inside = true; // The reader can move it; what is out of sight there covers nothing.
          if (one.left > edge.right - 2 || one.right < edge.left + 2 || one.top > edge.bottom - 2) seen = false;
          break;
        }
        const cut = Math.max(edge.left - one.left, one.right - edge.right, edge.top - one.top - one.height * 0.2,
          one.bottom - edge.bottom - one.height * 0.2);
        if (cut > 1.5) say('cut off', element, `${cut.toFixed(0)} pixels`, text);
      }
      if (!seen) continue;
      const out = Math.max(one.right - innerWidth, -one.left);
      if (!inside && out > 1.5) say('outside the window', element, `${out.toFixed(0)} pixels`, text);
      boxes.push({box: shown, element, text});
    }
  }
  boxes.sort((a, b) => a.box.top - b.box.top);
  for (let i = 0; i < boxes.length; i++) {
    const {box: a, element, text} = boxes[i];
    for (let j = i + 1; j < boxes.length && boxes[j].box.top < a.bottom; j++) {
      const {box: b, element: other, text: words} = boxes[j];
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 2 && high > 0.4 * Math.min(a.height, b.height) && !element.closest('math')) {
        say('overlap', element, `${other.tagName.toLowerCase()} “${words.trim().slice(0, 30)}” lies over`, text);
      }
    }
  }
  const wide = document.documentElement.scrollWidth - innerWidth;
  return [...(wide > 1 ? [`${wide} pixels wider than the window`] : []), ...found.values()];
})()
