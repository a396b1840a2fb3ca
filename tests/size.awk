# size.awk -- reports C files and functions that have grown too long:  awk -v file=800 -v fun=80 -f size.awk FILE...
# A switch with a case for each kind, a line or two a case, may reach 120.
FNR == 1                 { if (n > file) report(n " lines"); prev = FILENAME; n = 0; start = 0 }
                         { n++ }
/^[A-Za-z].*\{$/ && /\(/ { start = FNR; name = $0; cases = 0 }
/^ *case /               { cases++ }
/^}/ && start            { limit = cases > 12 ? 120 : fun; if (FNR - start > limit) report(FNR - start " lines in " name); start = 0 }
END                      { if (n > file) report(n " lines"); exit bad }
function report(what)    { print prev ": " what; bad = 1 }
