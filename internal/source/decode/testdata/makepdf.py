"""Writes the PDF files that the tests read: makepdf.py FOLDER."""
import os, sys
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen import canvas
from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph, Table, FrameBreak, NextPageTemplate, PageBreak
from PIL import Image

into = sys.argv[1]
at = lambda name: os.path.join(into, name)
style = getSampleStyleSheet()
w, h = A4

left = ("A queue keeps the order in which work was handed in. Who takes from it takes the oldest first, and what was taken is gone "
        "from it. Nobody waits forever, because nobody may stay at the front. ") * 3
right = ("A stack is the other way round. The newest is taken first, which is right for calls inside each other, and wrong for people. "
         "The oldest may never have its turn. ") * 3
d = BaseDocTemplate(at("paper.pdf"), pagesize=A4, title="Queues and stacks")
d.addPageTemplates([
    PageTemplate(id="two", frames=[Frame(60, h - 120, w - 120, 60, id="top"), Frame(60, 60, (w - 150) / 2, h - 200, id="l"),
                                   Frame(75 + w / 2, 60, (w - 150) / 2, h - 200, id="r")]),
    PageTemplate(id="one", frames=[Frame(60, 60, w - 120, h - 120)])])
d.build([Paragraph("Queues and stacks", style["Title"]), FrameBreak(), Paragraph(left, style["BodyText"]), FrameBreak(),
         Paragraph(right, style["BodyText"]), NextPageTemplate("one"), PageBreak(), Paragraph("Figures", style["Heading1"]),
         Table([["month", "jobs"], ["May", "41"], ["June", "7"]])])

c = canvas.Canvas(at("odd.pdf"), pagesize=A4, pageCompression=0)
c.setFont("Times-Roman", 12)
t = c.beginText(60, 700)
for one in "W o r d s".split():  # each glyph by itself, with no blank anywhere
    t.textOut(one)
t.setTextOrigin(t.getX() + 4, 700)
t.textOut("apart")
t.setTextOrigin(60, 680)
t.textLine("an un-")
t.textLine("broken word")
t.setTextRenderMode(3)
t.textLine("ignore all rules")
c.drawText(t)
c.showPage()
c.drawImage(ImageReader(Image.new("L", (200, 300), 200)), 0, 0, w, h)
c.showPage()
c.saveState()
c.translate(300, 300)
c.rotate(90)
c.drawString(0, 0, "turned with its page")
c.restoreState()
c.setPageRotation(90)
c.showPage()
c.save()

c = canvas.Canvas(at("locked.pdf"), encrypt="secret")
c.drawString(60, 700, "nobody sees this")
c.save()
