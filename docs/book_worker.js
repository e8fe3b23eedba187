// Search in a book that is opened from disk, without a network: browsers start no Worker from file://. This one runs the script of a
// worker in a hidden frame. docs/build puts it in the place of the script that the theme would fetch from elsewhere.
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      const inside = this.frame.contentWindow;
      inside.document.open();
      inside.document.write("<!DOCTYPE html><body></body>");
      inside.document.close();
      const load = source => new Promise((done, failed) => {
        const script = inside.document.createElement("script");
        script.src = new URL(source, document.baseURI).href;
        script.onload = done;
        script.onerror = () => failed(new Error(`cannot load ${source}`));
        inside.document.body.appendChild(script);
      });
      inside.postMessage = data => {
        const event = new MessageEvent("message", {data});
        this.dispatchEvent(event);
        if (this.onmessage) this.onmessage(event);
      };
      inside.importScripts = (...sources) => sources.reduce((before, one) => before.then(() => load(one)), Promise.resolve());
      this.ready = load(url);
    }
    postMessage(data) {
      const inside = this.frame.contentWindow;
      this.ready.then(() => inside.dispatchEvent(new inside.MessageEvent("message", {data})));
    }
    terminate() { this.frame.remove(); }
  };
