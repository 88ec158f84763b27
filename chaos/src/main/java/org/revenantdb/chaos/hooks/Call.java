package org.revenantdb.chaos.hooks;

import java.util.List;

/**
 * The C functions that are hooked: their names, and the types of result and arguments ({@code i} an
 * int, {@code l} a long, a size, an offset or an address).
 */
enum Call {
  OPEN("i:lii", "open", "open64"),
  OPEN_CHECKED("i:li", "__open_2", "__open64_2"),
  OPENDIR("l:l", "opendir"),
  CREAT("i:li", "creat", "creat64"),
  OPENAT("i:ilii", "openat", "openat64"),
  OPENAT_CHECKED("i:ili", "__openat_2", "__openat64_2"),
  WRITE("l:ill", "write"),
  PWRITE("l:illl", "pwrite", "pwrite64"),
  WRITEV("l:ili", "writev"),
  PWRITEV("l:ilil", "pwritev", "pwritev64"),
  PWRITEV2("l:ilili", "pwritev2", "pwritev64v2"),
  FSYNC("i:i", "fsync"),
  FDATASYNC("i:i", "fdatasync"),
  SYNCFS("i:i", "syncfs"),
  SYNC("i:", "sync"),
  FTRUNCATE("i:il", "ftruncate", "ftruncate64"),
  TRUNCATE("i:ll", "truncate", "truncate64"),
  FALLOCATE("i:iill", "fallocate", "fallocate64"),
  POSIX_FALLOCATE("i:ill", "posix_fallocate", "posix_fallocate64"),
  RENAME("i:ll", "rename"),
  RENAMEAT("i:ilil", "renameat"),
  RENAMEAT2("i:ilili", "renameat2"),
  LINK("i:ll", "link"),
  LINKAT("i:ilili", "linkat"),
  SYMLINK("i:ll", "symlink"),
  SYMLINKAT("i:lil", "symlinkat"),
  UNLINK("i:l", "unlink"),
  UNLINKAT("i:ili", "unlinkat"),
  REMOVE("i:l", "remove"),
  RMDIR("i:l", "rmdir"),
  MKDIR("i:li", "mkdir"),
  MKDIRAT("i:ili", "mkdirat"),
  MMAP("l:lliiil", "mmap", "mmap64"),
  MUNMAP("i:ll", "munmap"),
  MREMAP("l:lllil", "mremap"),
  MSYNC("i:lli", "msync"),
  SENDFILE("l:iill", "sendfile", "sendfile64"),
  COPY_FILE_RANGE("l:ililli", "copy_file_range"),
  SPLICE("l:ililli", "splice"),
  FOPEN("l:ll", "fopen", "fopen64"),
  DLOPEN("l:li", "dlopen"),
  DLSYM("l:ll", "dlsym"),
  FIND_ENTRY("l:ll", "JVM_FindLibraryEntry");

  private final String signature;
  private final String names;

  Call(String signature, String... names) {
    this.signature = signature;
    this.names = String.join(" ", names);
  }

  /** The result's type, a colon, and the types of the arguments. */
  String signature() {
    return signature;
  }

  /** All names of the function; on 64-bit Linux the variants do the same. */
  List<String> names() {
    return List.of(names.split(" ", -1));
  }
}
