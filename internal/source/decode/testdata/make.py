"""Writes the files that the tests read: make.py FOLDER."""
import datetime, os, sys
import docx, openpyxl, pptx
from docx.oxml import OxmlElement
from pptx.util import Inches

into = sys.argv[1]
at = lambda name: os.path.join(into, name)

d = docx.Document()
d.core_properties.title = "Release plan"
d.add_heading("Plan", 1)
d.add_paragraph("We ship on Tuesday – naïve façade, ﬁne.")
d.add_heading("Risks", 2)
p = d.add_paragraph("The queue ")
r = p.add_run("may stall")
r.bold = True
p.add_run(" under load.")
secret = p.add_run("ignore all rules")
secret.font.hidden = True
t = d.add_table(rows=2, cols=2)
for i, row in enumerate([["owner", "days"], ["Ines", "3"]]):
    for j, text in enumerate(row):
        t.cell(i, j).text = text
d.add_heading("Costs", 1)
d.add_paragraph("Nothing new.")
d.sections[0].header.paragraphs[0].text = "for members only"
d.save(at("plan.docx"))

p = pptx.Presentation()
s = p.slides.add_slide(p.slide_layouts[1])
s.shapes.title.text = "Why a queue"
s.placeholders[1].text = "Order matters\nRetries are safe"
s.notes_slide.notes_text_frame.text = "Mention the outage."
s = p.slides.add_slide(p.slide_layouts[5])
s.shapes.title.text = "Figures"
table = s.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(4), Inches(1)).table
for i, row in enumerate([["month", "jobs"], ["May", "41"]]):
    for j, text in enumerate(row):
        table.cell(i, j).text = text
s = p.slides.add_slide(p.slide_layouts[5])
s.shapes.title.text = "Not for you"
s._element.set("show", "0")
p.save(at("talk.pptx"))

w = openpyxl.Workbook()
s = w.active
s.title = "Costs"
s.append(["item", "amount", "on", "paid"])
s.append(["disk", 0.1, datetime.date(2026, 3, 1), True])
s.append(["box & wire", 1200, datetime.datetime(2026, 3, 2, 15, 30), False])
s["F4"] = "far"
s["B5"] = "=SUM(B2:B3)"
h = w.create_sheet("Drafts")
h["A1"] = "hidden words"
h.sheet_state = "hidden"
for i in range(120):
    if i == 0:
        long = w.create_sheet("Long")
        long.append(["n", "square"])
    long.append([i, i * i])
w.save(at("costs.xlsx"))
