# embed.awk -- turns the standard library into C: the bytes of each file by .incbin, and an index from
# the names defined in it (first argument of a decorator @op("...")) to the file, in name order by file.
# awk -f embed.awk FILE...  >  stdlib.c
FNR == 1 { file[++files] = FILENAME }
/^@[a-z_]+\("/ || (opened && /^ *"/) { split($0, part, "\""); name[++names] = part[2]; home[names] = files }
{ opened = /^@[a-z_]+\($/ } # its arguments are on lines of their own
END {
  print "/* Generated from stdlib/: do not edit. */\n#include \"lang/dialect/stdlib.h\""
  for (i = 1; i <= files; i++) {
    printf "__asm__(\".section .rodata\\n.global stdlib_%d\\nstdlib_%d: .incbin \\\"%s\\\"\\n.byte 0\\n", i, i, file[i]
    printf ".global stdlib_%d_end\\nstdlib_%d_end: .byte 0\\n.previous\\n\");\n", i, i
    printf "extern const char stdlib_%d[], stdlib_%d_end[];\n", i, i
  }
  print "const StdlibFile stdlib_files[] = {"
  for (i = 1; i <= files; i++) printf "  {\"%s\", stdlib_%d, stdlib_%d_end},\n", file[i], i, i
  printf "  {0}};\nconst int stdlib_file_count = %d;\n", files
  print "const StdlibName stdlib_names[] = {"
  for (i = 1; i <= names; i++) printf "  {\"%s\", %d},\n", name[i], home[i] - 1
  printf "  {0}};\nconst int stdlib_name_count = %d;\n", names
}
