"""The report of a run in a notebook: the page, and its pictures one by one."""
from __future__ import annotations

import base64
import html
import re
import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Union

from .errors import InputError

_STYLE = re.compile(r"<style>(.*?)</style>", re.S)
_FIGURE = re.compile(r"<figure[^>]*>(.*?)</figure>", re.S)
_SVG = re.compile(r"<svg\b([^>]*)>(.*?)</svg>", re.S)


@dataclass(frozen=True)
class Picture:
    """One picture of a report. In a notebook it shows itself."""

    title: str
    svg: str  #: a whole SVG file

    def save(self, path: Union[str, Path]) -> Path:
        """Write the picture as an SVG file."""
        path = Path(path)
        path.write_text(self.svg, encoding="utf-8")
        return path

    def _repr_html_(self) -> str:
        data = base64.b64encode(self.svg.encode()).decode()
        return (f'<figure style="display:inline-block;margin:6px;width:min(46%,560px);min-width:280px">'
                f'<img alt="{html.escape(self.title, quote=True)}" style="width:100%" src="data:image/svg+xml;base64,{data}">'
                f"</figure>")


class Pictures(list[Picture]):
    """Pictures of a report, side by side in a notebook. `pictures["Energy"]` finds one by its title."""

    def __getitem__(self, key: Union[int, slice, str]) -> Union[Picture, Pictures]:  # type: ignore[override]
        if isinstance(key, slice):
            return Pictures(super().__getitem__(key))
        if not isinstance(key, str):
            return super().__getitem__(key)
        for picture in self:
            if key.lower() in picture.title.lower():
                return picture
        raise InputError(f"no picture is called '{key}'; there are: {', '.join(p.title for p in self)}")

    def _repr_html_(self) -> str:
        return "<div>" + "".join(picture._repr_html_() for picture in self) + "</div>"


class Report:
    """report.html of a run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.exists():
            raise InputError(f"{path}: there is no report; a run writes it at its end")

    @property
    def html(self) -> str:
        """The page."""
        return self.path.read_text(encoding="utf-8")

    @property
    def pictures(self) -> Pictures:
        """All pictures that the page shows as SVG, each with the page's colours."""
        page = self.html
        style = "".join(_STYLE.findall(page))
        found = Pictures()
        for figure in _FIGURE.findall(page):
            svg = _SVG.search(figure)
            if svg is None:
                continue
            label = re.search(r'aria-label="([^"]*)"', svg[1])
            caption = re.search(r"<figcaption>(.*?)</figcaption>", figure, re.S)
            title = html.unescape(label[1] if label else re.sub(r"<[^>]*>", "", caption[1]) if caption else "")
            found.append(Picture(title, _whole_svg(svg[1], svg[2], style)))
        return found

    def open(self) -> None:
        """Show the page in a browser."""
        webbrowser.open(self.path.resolve().as_uri())

    def _repr_html_(self) -> str:
        return (f'<iframe sandbox="allow-scripts" style="width:100%;height:620px;border:1px solid #ddd" '
                f'srcdoc="{html.escape(self.html, quote=True)}"></iframe>')

    def __repr__(self) -> str:
        return f"<Report {self.path}>"


def _whole_svg(attributes: str, body: str, style: str) -> str:
    """Return a picture that stands for itself: name space, size, background and the page's colours and fonts."""
    box = _view_box(attributes)
    size = f' width="{box[2]:g}" height="{box[3]:g}"' if box and " width=" not in attributes else ""
    paper = f'<rect x="{box[0]:g}" y="{box[1]:g}" width="{box[2]:g}" height="{box[3]:g}" style="fill:var(--card)"/>' if box else ""
    names = "" if "xmlns=" in attributes else ' xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f"<svg{names}{attributes}{size}><style><![CDATA[{style}]]></style>{paper}{body}</svg>"


def _view_box(attributes: str) -> Optional[list[float]]:
    box = re.search(r'viewBox="([^"]*)"', attributes)
    return [float(one) for one in box[1].split()] if box else None
