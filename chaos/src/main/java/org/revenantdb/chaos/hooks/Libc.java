package org.revenantdb.chaos.hooks;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;

/**
 * The real functions of the C library, found before any hook is in place.
 *
 * <p>Threads: any. Each call that a hook passes on stores its errno in the {@link Slot} of the
 * thread.
 */
final class Libc {

  /** All memory. Reading a wrong address ends the JVM. */
  static final MemorySegment ALL = everything();

  private static final Linker LINKER = Linker.nativeLinker();

  /** Every call takes the segment for errno and six longs, and returns a long. */
  private static final MethodType SHAPE =
      MethodType.methodType(
          long.class,
          MemorySegment.class,
          long.class,
          long.class,
          long.class,
          long.class,
          long.class,
          long.class);

  private static final Map<Call, MethodHandle> CALLS = new EnumMap<>(Call.class);
  private static final MethodHandle ERRNO_LOCATION = plain("__errno_location", "l:");
  private static final MethodHandle FSTAT = plain("fstat", "i:il");
  private static final MethodHandle LSTAT = plain("lstat", "i:ll");
  private static final MethodHandle LSEEK = plain("lseek", "l:ili");
  private static final MethodHandle FCNTL = plain("fcntl", "i:iil");
  private static final MethodHandle PREAD = plain("pread", "l:illl");
  private static final MethodHandle READLINK = plain("readlink", "l:lll");
  private static final MethodHandle OPEN = plain("open", "i:lii");
  private static final MethodHandle CLOSE = plain("close", "i:i");
  private static final MethodHandle MPROTECT = plain("mprotect", "i:lli");
  private static final MethodHandle PAGE_SIZE = plain("getpagesize", "i:");
  private static final MethodHandle EXIT = plain("_exit", "i:i");

  static {
    for (Call call : Call.values()) {
      for (String name : call.names()) {
        long address = address(name);
        if (address != 0 && !CALLS.containsKey(call)) {
          bind(call, address);
        }
      }
    }
  }

  private Libc() {}

  @SuppressWarnings("restricted") // this JVM was started with native access for that
  private static MemorySegment everything() {
    return MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
  }

  /** The address of a function, or 0. */
  @SuppressWarnings("restricted") // see everything()
  static long address(String name) {
    return SymbolLookup.libraryLookup("libc.so.6", Arena.global())
        .find(name)
        .or(() -> LINKER.defaultLookup().find(name))
        .map(MemorySegment::address)
        .orElse(0L);
  }

  /** The address of a function of the JVM, or 0. */
  @SuppressWarnings("restricted") // see everything()
  static long addressInJvm(String name) {
    Path library = Path.of(System.getProperty("java.home"), "lib", "server", "libjvm.so");
    if (!Files.exists(library)) {
      return 0;
    }
    return SymbolLookup.libraryLookup(library, Arena.global())
        .find(name)
        .map(MemorySegment::address)
        .orElse(0L);
  }

  static FunctionDescriptor descriptor(String signature) {
    MemoryLayout[] arguments =
        signature.substring(2).chars().mapToObj(Libc::layout).toArray(MemoryLayout[]::new);
    return FunctionDescriptor.of(layout(signature.charAt(0)), arguments);
  }

  private static MemoryLayout layout(int type) {
    return type == 'i' ? JAVA_INT : JAVA_LONG;
  }

  @SuppressWarnings("restricted") // see everything()
  private static MethodHandle plain(String name, String signature) {
    long address = address(name);
    if (address == 0) {
      throw new UnsupportedOperationException("the C library has no function " + name);
    }
    return LINKER.downcallHandle(
        MemorySegment.ofAddress(address), descriptor(signature), Linker.Option.critical(false));
  }

  /** Makes the handle of a call from the address of its function. */
  @SuppressWarnings("restricted") // see everything()
  static void bind(Call call, long address) {
    MethodHandle handle =
        LINKER.downcallHandle(
            MemorySegment.ofAddress(address),
            descriptor(call.signature()),
            Linker.Option.captureCallState("errno"));
    int missing = SHAPE.parameterCount() - handle.type().parameterCount();
    CALLS.put(
        call,
        MethodHandles.explicitCastArguments(
            MethodHandles.dropArguments(
                handle, handle.type().parameterCount(), Collections.nCopies(missing, long.class)),
            SHAPE));
  }

  /**
   * Ends the process at once. {@link Runtime#halt} first runs what native libraries have registered
   * with {@code atexit}. RocksDB waits there for its own threads, and a thread that was attached to
   * the JVM by a hook waits for the JVM, which is ending: for ever.
   */
  static void exit(int code) {
    try {
      int _ = (int) EXIT.invokeExact(code);
    } catch (Throwable impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  static boolean has(Call call) {
    return CALLS.containsKey(call);
  }

  static int pageSize() {
    try {
      return (int) PAGE_SIZE.invokeExact();
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  static MethodHandle handle(Call call) {
    MethodHandle handle = CALLS.get(call);
    if (handle == null) {
      throw new IllegalStateException("the C library has no " + call);
    }
    return handle;
  }

  static void setErrno(int value) {
    try {
      long at = (long) ERRNO_LOCATION.invokeExact();
      ALL.set(JAVA_INT, at, value);
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  static int fstat(int fd, long into) throws Throwable {
    return (int) FSTAT.invokeExact(fd, into);
  }

  static int lstat(long path, long into) throws Throwable {
    return (int) LSTAT.invokeExact(path, into);
  }

  static long position(int fd) throws Throwable {
    return seek(fd, 0, 1);
  }

  static long seek(int fd, long offset, int whence) throws Throwable {
    return (long) LSEEK.invokeExact(fd, offset, whence);
  }

  static int flags(int fd) throws Throwable {
    return (int) FCNTL.invokeExact(fd, 3, 0L);
  }

  static long pread(int fd, long into, long length, long offset) throws Throwable {
    return (long) PREAD.invokeExact(fd, into, length, offset);
  }

  static long readlink(long path, long into, long length) throws Throwable {
    return (long) READLINK.invokeExact(path, into, length);
  }

  static int openToRead(long path) throws Throwable {
    return (int) OPEN.invokeExact(path, 0, 0);
  }

  static int close(int fd) throws Throwable {
    return (int) CLOSE.invokeExact(fd);
  }

  static int mprotect(long address, long length, int protection) throws Throwable {
    return (int) MPROTECT.invokeExact(address, length, protection);
  }
}
