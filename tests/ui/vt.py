"""vt.py ROWSxCOLUMNS [colours] <BYTES: what a terminal shows after these bytes, as lines of text; with colours,
a line a cell that has any: row, column, foreground, background, attributes. It knows what terminfo's
entries of the xterm, linux, screen, tmux and vt100 families send, and says what it does not know."""
import re, sys, unicodedata

rows, columns = map(int, sys.argv[1].split("x"))
data = sys.stdin.buffer.read().decode("utf-8", "replace")
PLAIN = (None, None, frozenset())
BLANK = (" ", PLAIN)
# The line drawing of a vt100, for those that have no other.
LINES = dict(zip("`afgjklmnopqrstuvwxyz{|}~", "◆▒°±┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·"))


class Screen:
    def __init__(self):
        self.cell = [[BLANK] * columns for _ in range(rows)]
        self.row = self.column = 0
        self.top, self.bottom = 0, rows - 1
        self.look = PLAIN
        self.sets, self.shift = ["B", "B"], 0
        self.saved = (0, 0)
        self.last = " "
        self.full = False # the cursor stands behind the last column
        self.other = None # the picture below the alternate one

    def put(self, c):
        wide = 2 if unicodedata.east_asian_width(c) in "WF" else 1
        if self.full:
            self.column, self.full = 0, False
            self.down()
        if self.sets[self.shift] == "0":
            c = LINES.get(c, c)
        self.cell[self.row][self.column] = (c, self.look)
        if wide == 2 and self.column + 1 < columns:
            self.cell[self.row][self.column + 1] = ("", self.look)
        self.last = c
        self.column += wide
        if self.column >= columns:
            self.column, self.full = columns - 1, True

    def down(self):
        if self.row == self.bottom:
            self.scroll(1)
        elif self.row < rows - 1:
            self.row += 1

    def up(self):
        if self.row == self.top:
            self.scroll(-1)
        elif self.row:
            self.row -= 1

    def scroll(self, n, top=None):
        top = self.top if top is None else top
        for _ in range(min(abs(n), rows)):
            if n > 0:
                del self.cell[top]
                self.cell.insert(self.bottom, self.blanks())
            else:
                del self.cell[self.bottom]
                self.cell.insert(top, self.blanks())

    def blanks(self):
        return [self.blank() for _ in range(columns)]

    def blank(self):
        return (" ", (None, self.look[1], frozenset()))

    def erase(self, row, start, end):
        for i in range(max(start, 0), min(end, columns)):
            self.cell[row][i] = self.blank()

    def go(self, row, column):
        self.row = min(max(row, 0), rows - 1)
        self.column = min(max(column, 0), columns - 1)
        self.full = False

    def colours(self, numbers):
        front, back, marks = self.look
        at = 0
        while at < len(numbers):
            n = numbers[at]
            if n == 0:
                front, back, marks = PLAIN
            elif n in (38, 48) and numbers[at + 1 : at + 2] == [5]:
                front, back = (numbers[at + 2], back) if n == 38 else (front, numbers[at + 2])
                at += 2
            elif 30 <= n <= 37 or 90 <= n <= 97:
                front = n - 30 if n < 90 else n - 82
            elif 40 <= n <= 47 or 100 <= n <= 107:
                back = n - 40 if n < 100 else n - 92
            elif n == 39:
                front = None
            elif n == 49:
                back = None
            elif n in (1, 2, 3, 4, 5, 7):
                marks |= {n}
            elif n in (22, 23, 24, 25, 27):
                marks -= {n - 20} | ({1} if n == 22 else set())
            elif n not in (10, 11):
                unknown("colour %d" % n)
            at += 1
        self.look = (front, back, marks)

    def picture(self, on):
        if on and self.other is None:
            self.other = self.cell
            self.cell = [[BLANK] * columns for _ in range(rows)]
        elif not on and self.other is not None:
            self.cell, self.other = self.other, None

    def control(self, mark, words, final):
        n = [int(w) if w.isdigit() else 0 for w in re.split("[;:]", words)] if words else []
        one = max(n[0], 1) if n else 1
        kind = n[0] if n else 0
        if mark == "?" and final in "hl":
            if kind in (1049, 47, 1047):
                self.picture(final == "h")
            return # cursor, mouse, keypad: nothing of the picture
        if mark == ">" or final in "hlctn" or (mark == "?" and final in "c"):
            return
        if final in "Hf":
            self.go((n[0] if n else 1) - 1, (n[1] if len(n) > 1 else 1) - 1)
        elif final == "G" or final == "`":
            self.go(self.row, one - 1)
        elif final == "d":
            self.go(one - 1, self.column)
        elif final in "ABCD":
            by = {"A": (-1, 0), "B": (1, 0), "C": (0, 1), "D": (0, -1)}[final]
            self.go(self.row + by[0] * one, self.column + by[1] * one)
        elif final == "K":
            self.erase(self.row, 0 if kind else self.column, self.column + 1 if kind == 1 else columns)
        elif final == "J":
            self.erase(self.row, 0 if kind else self.column, self.column + 1 if kind == 1 else columns)
            for r in range(0 if kind else self.row + 1, self.row if kind == 1 else rows):
                self.erase(r, 0, columns)
        elif final == "X":
            self.erase(self.row, self.column, self.column + one)
        elif final == "b":
            for _ in range(one):
                self.put(self.last)
        elif final == "@":
            line = self.cell[self.row]
            line[self.column : self.column] = [self.blank() for _ in range(one)]
            del line[columns:]
        elif final == "P":
            line = self.cell[self.row]
            del line[self.column : self.column + one]
            line.extend(self.blank() for _ in range(columns - len(line)))
        elif final == "L":
            self.scroll(-one, self.row)
        elif final == "M":
            self.scroll(one, self.row)
        elif final == "S":
            self.scroll(one)
        elif final == "T":
            self.scroll(-one)
        elif final == "r":
            self.top, self.bottom = (n[0] or 1) - 1 if n else 0, (n[1] if len(n) > 1 else rows) - 1
            self.go(0, 0)
        elif final == "m":
            self.colours(n or [0])
        elif final != "q":
            unknown("ESC [ %s%s%s" % (mark, words, final))


def unknown(what):
    sys.exit("this terminal does not know " + what)


s = Screen()
pieces = re.compile(
    "\x1b\\[([?>!]?)([0-9;:]*)([ -/]*[@-~])|\x1b\\](?:R|[^\x07\x1b]*(?:\x07|\x1b\\\\))|\x1b([()])(.)|\x1b(.)|([\x00-\x1f])|(.)", re.S
)
for mark, words, final, which, charset, single, control, plain in pieces.findall(data):
    if plain:
        s.put(plain)
    elif final:
        s.control(mark, words, final.strip())
    elif which:
        s.sets["()".index(which)] = charset
    elif control == "\r":
        s.go(s.row, 0)
    elif control == "\n":
        s.down()
    elif control == "\b":
        s.go(s.row, s.column - 1)
    elif control == "\t":
        s.go(s.row, min(columns - 1, s.column // 8 * 8 + 8))
    elif control in ("\x0e", "\x0f"):
        s.shift = int(control == "\x0e")
    elif single == "M":
        s.up()
    elif single == "7":
        s.saved = (s.row, s.column)
    elif single == "8":
        s.go(*s.saved)
    elif single == "c":
        s = Screen()
    elif single and single not in "=>DEHgk\\":
        unknown("ESC " + single)
if "colours" in sys.argv:
    for r, line in enumerate(s.cell):
        for c, (_, (front, back, marks)) in enumerate(line):
            if front is not None or back is not None or marks:
                print(r, c, front, back, "".join(map(str, sorted(marks))))
else:
    for line in s.cell:
        print("".join(c for c, _ in line).rstrip())
