package org.revenantdb.chaos.hooks;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * The import tables of the native libraries in this process. A hook is put in place by writing its
 * address where a library keeps the address of the real function.
 *
 * <p>Threads: one at a time.
 */
final class ImportTables {
  /*
   * An ELF library in memory begins with its header. The program headers lead to the dynamic
   * section, and that to two tables of relocations (RELA and JMPREL), each entry with the place of
   * a pointer, a type and a symbol. Of interest are those of type GLOB_DAT, JUMP_SLOT and ABS64
   * whose symbol is a hooked function: after binding, the place holds the function's address, and
   * before lazy binding that of a stub.
   *
   * Copies of pointers that were made earlier (results of dlsym, tables such as SQLite's) are found
   * by their value: every word of the library's writable memory that equals the address of a hooked
   * function is one.
   *
   * Left alone are the libraries that the JVM itself calls while its threads are not in native
   * code: an upcall from there ends the process. Of the JDK that leaves libjava and libnio.
   */

  private static final Set<String> OF_THE_JDK = Set.of("libjava.so", "libnio.so");

  /** Parts of the C library, of the loader and of the compiler's runtime. */
  private static final Set<String> SYSTEM =
      Set.of(
          "libc.so.6",
          "libpthread.so.0",
          "libdl.so.2",
          "librt.so.1",
          "libm.so.6",
          "libgcc_s.so.1",
          "libresolv.so.2");

  private static final int MAGIC = 0x464C457F; // \x7fELF
  private static final int PT_LOAD = 1;
  private static final int PT_DYNAMIC = 2;
  private static final int WRITABLE = 2;
  private static final int DT_PLTRELSZ = 2;
  private static final int DT_STRTAB = 5;
  private static final int DT_SYMTAB = 6;
  private static final int DT_RELA = 7;
  private static final int DT_RELASZ = 8;
  private static final int DT_JMPREL = 23;
  private static final int ENTRY = 24;
  private static final int READ_WRITE = 3;

  private final Map<String, Long> hooks;
  private final Map<Long, Long> byAddress = new HashMap<>();
  private final Set<Long> known = new HashSet<>();
  private final Set<Integer> types;
  private final String home = System.getProperty("java.home") + "/";
  private final int page = Libc.pageSize();
  private final long lowest;
  private final long highest;
  private int places;

  /**
   * Creates the tables.
   *
   * @param hooks the address of the hook for each name
   * @param real the address of the real function for each name
   */
  ImportTables(Map<String, Long> hooks, Map<String, Long> real) {
    this.hooks = hooks;
    real.forEach((name, address) -> byAddress.put(address, hooks.get(name)));
    lowest = byAddress.keySet().stream().mapToLong(Long::longValue).min().orElse(0);
    highest = byAddress.keySet().stream().mapToLong(Long::longValue).max().orElse(0);
    types =
        System.getProperty("os.arch").equals("aarch64")
            ? Set.of(1025, 1026, 257) // R_AARCH64_GLOB_DAT, JUMP_SLOT, ABS64
            : Set.of(6, 7, 1); // R_X86_64_GLOB_DAT, JUMP_SLOT, 64
  }

  /** The hook of a function by the function's address; the same address if it is not hooked. */
  long hookOf(long function) {
    Long hook = byAddress.get(function);
    return hook == null ? function : hook;
  }

  /** How many pointers were changed so far. */
  int places() {
    return places;
  }

  /** Patches every library that was loaded since the last call. */
  void patchNew() throws Throwable {
    for (Map.Entry<Long, String> library : libraries().entrySet()) {
      if (known.add(library.getKey()) && isHooked(library.getValue())) {
        patch(library.getKey());
      }
    }
  }

  private boolean isHooked(String path) {
    String name = path.substring(path.lastIndexOf('/') + 1);
    if (path.startsWith(home)) {
      return OF_THE_JDK.contains(name);
    }
    return !SYSTEM.contains(name) && !name.startsWith("ld-");
  }

  /**
   * The libraries in memory and where each begins: files with the magic number of ELF of which a
   * part can be executed. Their names say nothing; JNA's is {@code jna123.tmp}.
   */
  private static Map<Long, String> libraries() throws IOException {
    Map<String, Long> begins = new LinkedHashMap<>();
    Set<String> executable = new HashSet<>();
    for (String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
      String[] parts = line.split("\\s+", 6);
      // address perms offset dev inode path
      if (parts.length < 6 || !parts[5].startsWith("/") || parts[1].charAt(3) != 'p') {
        continue;
      }
      if (parts[1].charAt(2) == 'x') {
        executable.add(parts[4] + " " + parts[5]);
      }
      if (parts[1].charAt(0) == 'r' && Long.parseUnsignedLong(parts[2], 16) == 0) {
        String from = parts[0].substring(0, parts[0].indexOf('-'));
        // By inode: two deleted libraries may have had one name.
        begins.putIfAbsent(parts[4] + " " + parts[5], Long.parseUnsignedLong(from, 16));
      }
    }
    Map<Long, String> found = new LinkedHashMap<>();
    begins.forEach((path, base) -> {
      // A file of data is not touched: where it was cut off, reading would end the process.
      if (executable.contains(path) && Libc.ALL.get(JAVA_INT, base) == MAGIC) {
        found.put(base, path.substring(path.indexOf(' ') + 1).replace(" (deleted)", ""));
      }
    });
    return found;
  }

  private void patch(long base) throws Throwable {
    long headers = base + Libc.ALL.get(JAVA_LONG, base + 32);
    int size = Libc.ALL.get(JAVA_SHORT, base + 54);
    int count = Libc.ALL.get(JAVA_SHORT, base + 56);
    for (int i = 0; i < count; i++) {
      long header = headers + (long) i * size;
      if (Libc.ALL.get(JAVA_INT, header) == PT_DYNAMIC) {
        patchImports(base, base + Libc.ALL.get(JAVA_LONG, header + 16));
      }
    }
    for (int i = 0; i < count; i++) {
      long header = headers + (long) i * size;
      if (Libc.ALL.get(JAVA_INT, header) == PT_LOAD
          && (Libc.ALL.get(JAVA_INT, header + 4) & WRITABLE) != 0) {
        long from = base + Libc.ALL.get(JAVA_LONG, header + 16);
        patchCopies((from + 7) & ~7L, from + Libc.ALL.get(JAVA_LONG, header + 40));
      }
    }
  }

  private void patchImports(long base, long dynamic) throws Throwable {
    Map<Integer, Long> entries = new HashMap<>();
    for (long at = dynamic; Libc.ALL.get(JAVA_LONG, at) != 0; at += 16) {
      entries.put((int) Libc.ALL.get(JAVA_LONG, at), Libc.ALL.get(JAVA_LONG, at + 8));
    }
    long names = inMemory(base, entries.getOrDefault(DT_STRTAB, 0L));
    long symbols = inMemory(base, entries.getOrDefault(DT_SYMTAB, 0L));
    if (names == 0 || symbols == 0) {
      return;
    }
    int[][] tables = {{DT_JMPREL, DT_PLTRELSZ}, {DT_RELA, DT_RELASZ}};
    for (int[] table : tables) {
      long from = inMemory(base, entries.getOrDefault(table[0], 0L));
      long length = entries.getOrDefault(table[1], 0L);
      for (long at = from; from != 0 && at < from + length; at += ENTRY) {
        long info = Libc.ALL.get(JAVA_LONG, at + 8);
        if (types.contains((int) info)) {
          int name = Libc.ALL.get(JAVA_INT, symbols + (info >>> 32) * ENTRY);
          Long hook = hooks.get(Libc.ALL.getString(names + name));
          if (hook != null) {
            store(base + Libc.ALL.get(JAVA_LONG, at), hook);
          }
        }
      }
    }
  }

  /** The loader of some systems leaves offsets in the dynamic section, others addresses. */
  private static long inMemory(long base, long value) {
    return value == 0 || Long.compareUnsigned(value, base) >= 0 ? value : base + value;
  }

  private void patchCopies(long from, long to) throws Throwable {
    for (long at = from; at + 8 <= to; at += 8) {
      long value = Libc.ALL.get(JAVA_LONG, at);
      Long hook = value < lowest || value > highest ? null : byAddress.get(value);
      if (hook != null) {
        store(at, hook);
      }
    }
  }

  private void store(long place, long hook) throws Throwable {
    if (Libc.ALL.get(JAVA_LONG, place) == hook) {
      return;
    }
    if (Libc.mprotect(place & -page, page, READ_WRITE) != 0) {
      throw new IllegalStateException("mprotect failed");
    }
    Libc.ALL.set(JAVA_LONG, place, hook);
    places++;
  }
}
