# text_peer.py -- seconds of processor time in which Apache TVM reads and prints a module: text_peer.py FILE
import sys
import time

from tvm.script import from_source

text = open(sys.argv[1]).read()
start = time.process_time()
module = from_source(text)
read = time.process_time()
module.script()
print(read - start, time.process_time() - read)
