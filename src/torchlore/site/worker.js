"use strict";
// A page opened from the disk may start no Worker, and the site's search needs one: run its script in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inner = frame.contentWindow;
      inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inner.importScripts = (...urls) => Promise.all(urls.map((each) => load(inner, each)));
      this.postMessage = (data) => ready.then(() => inner.dispatchEvent(new inner.MessageEvent("message", { data })));
      this.terminate = () => frame.remove();
      const ready = load(inner, url);
    }
  };
}

function load(inner, url) {
  return new Promise((resolve, reject) => {
    const script = inner.document.createElement("script");
    script.src = url;
    script.onload = resolve;
    script.onerror = reject;
    inner.document.documentElement.append(script);
  });
}
