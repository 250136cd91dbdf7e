"""spills.py PROGRAM: every innermost loop of the products with eight multiply-adds or more, and whether it keeps a
vector in memory that it has no register for. Prints those that do, then how many loops were looked at; the exit code
is 1 where one does, or none was found."""
import re, subprocess, sys

PRODUCTS = re.compile(r"wino_block_|dense|dot_|dw_|direct_")
MULTIPLY_ADD = re.compile(r"vfn?m(add|sub)\d+ps|vdpbf16ps")
SPILL = re.compile(r"\(%r[sb]p[,)].*%[xyz]mm|%[xyz]mm.*\(%r[sb]p[,)]")


def loops(body):
    """The innermost ones, by the jumps back."""
    at = {address: i for i, (address, _) in enumerate(body)}
    found = []
    for i, (_, text) in enumerate(body):
        jump = re.match(r"j\w+\s+([0-9a-f]+)", text)
        to = at.get(int(jump.group(1), 16), i + 1) if jump else i + 1
        if to <= i:
            found.append((to, i))
    return [a for a in found if not any(a != b and a[0] <= b[0] and b[1] <= a[1] for b in found)]


looked = bad = 0
name, body = None, []


def look():
    global looked, bad
    for first, last in loops(body) if name and PRODUCTS.match(name) else ():
        part = [text for _, text in body[first : last + 1]]
        sums = sum(bool(MULTIPLY_ADD.match(t)) for t in part)
        spills = sum(bool(SPILL.search(t)) for t in part)
        looked += sums >= 8
        if sums >= 8 and spills:
            bad += 1
            print("%s at %x: %d of %d" % (name, body[first][0], spills, len(part)))


dump = ["objdump", "-d", "--no-show-raw-insn", sys.argv[1]]
for line in subprocess.run(dump, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines():
    head = re.match(r"[0-9a-f]+ <(.+)>:$", line)
    code = re.match(r"\s+([0-9a-f]+):\s+(.*)$", line)
    if head:
        look()
        name, body = head.group(1), []
    elif code:
        body.append((int(code.group(1), 16), code.group(2)))
look()
print("%d loops" % looked)
sys.exit(bad > 0 or not looked)
