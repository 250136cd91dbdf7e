# Circles of files: files that reach each other through the symbols that they use. Reads lines "FILE defines|uses
# SYMBOL", as nm tells them; prints a line for each circle, the largest first.

$2 == "defines" { where[$3] = $1 }
$2 == "uses" { uses[++n] = $1; used[n] = $3 }
END {
    for (i = 1; i <= n; i++) {
        from = uses[i]
        to = where[used[i]]
        if (to != "" && to != from && !seen[from, to]++) {
            edge[from, ++edges[from]] = to
            file[from] = file[to] = 1
        }
    }
    for (f in file)
        if (!(f in number))
            visit(f)
    close(sort)
}

# Tarjan: a file whose lowest reachable one is itself closes its circle on the stack.
function visit(f,   i, to, circle, size)
{
    number[f] = low[f] = ++count
    stack[++top] = f
    on[f] = 1
    for (i = 1; i <= edges[f]; i++) {
        to = edge[f, i]
        if (!(to in number)) {
            visit(to)
            low[f] = low[to] < low[f] ? low[to] : low[f]
        } else if (on[to]) {
            low[f] = number[to] < low[f] ? number[to] : low[f]
        }
    }
    if (low[f] < number[f])
        return
    do {
        to = stack[top--]
        on[to] = 0
        circle = circle " " to
        size++
    } while (to != f)
    if (size > 1)
        printf "%d%s\n", size, circle | (sort = "LC_ALL=C sort -k1,1nr -k2")
}
