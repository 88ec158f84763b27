package org.revenantdb.chaos.hooks;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.fault.FaultPoint;
import org.revenantdb.chaos.run.FaultCase;
import org.revenantdb.chaos.run.FaultLife.Lived;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.FaultKind;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;

/** Which calls of the C library can have a fault, and what they return then (§57). */
@Tag("slow")
@EnabledIf("canHook")
class NativeFaultsTest {

  private static final String NO_DIRECT = "this file system has no O_DIRECT";

  @TempDir private Path scratch;

  static boolean canHook() {
    return AnyRecorder.missingHooks().isEmpty();
  }

  /** Calls the C library, and fails with all results if one is not what it is without a fault. */
  @SuppressWarnings("restricted") // the forked JVM has native access
  public static final class Calls implements CrashSubject<Path> {

    private static final int BLOCK = 4096;
    private static final Linker LINKER = Linker.nativeLinker();
    private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");

    private final StringBuilder results = new StringBuilder();
    private boolean odd;

    private static long call(String name, int[] errno, Object... arguments) throws Throwable {
      MemoryLayout[] types = new MemoryLayout[arguments.length];
      for (int i = 0; i < types.length; i++) {
        types[i] = arguments[i] instanceof Integer ? JAVA_INT : JAVA_LONG;
      }
      boolean isInt = !name.equals("opendir") && !name.equals("write");
      FunctionDescriptor type = FunctionDescriptor.of(isInt ? JAVA_INT : JAVA_LONG, types);
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment state = arena.allocate(Linker.Option.captureStateLayout());
        Object[] all = new Object[arguments.length + 1];
        all[0] = state;
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        Object result =
            LINKER
                .downcallHandle(LINKER.defaultLookup().find(name).orElseThrow(), type, ERRNO)
                .invokeWithArguments(all);
        errno[0] = state.get(JAVA_INT, 0);
        return ((Number) result).longValue();
      }
    }

    private void told(String what, Object result, Object expected) {
      results.append(what).append(' ').append(result).append("; ");
      odd |= !result.equals(expected);
    }

    @Override
    public Path open(Path dir) {
      return dir;
    }

    @Override
    public void work(Path dir, Promises promises) throws Exception {
      try (Arena arena = Arena.ofConfined()) {
        work(dir, arena);
      } catch (Exception | Error e) {
        throw e;
      } catch (Throwable e) {
        throw new IOException(e);
      }
      if (odd) {
        throw new IOException(results.toString());
      }
    }

    private void work(Path dir, Arena arena) throws Throwable {
      int[] errno = {0};
      boolean arm = System.getProperty("os.arch").equals("aarch64");
      int direct = arm ? 0200000 : 040000;
      long path = arena.allocateFrom(dir.resolve("blocks").toString()).address();
      int fd = (int) call("open", errno, path, 0101 | direct, 0600);
      if (fd < 0) {
        throw new IOException(NO_DIRECT);
      }
      // Of these two only the second one can be short: a block is written whole or not at all.
      MemorySegment blocks = arena.allocate(3L * BLOCK, BLOCK);
      told("a block:", call("write", errno, fd, blocks.address(), (long) BLOCK), (long) BLOCK);
      long three = call("write", errno, fd, blocks.address(), 3L * BLOCK);
      told("blocks:", three, 3L * BLOCK);
      long size = Files.size(dir.resolve("blocks"));
      told("space:", call("posix_fallocate", errno, fd, size, (long) BLOCK), 0L);
      told("hole:", call("fallocate", errno, fd, 3, 0L, (long) BLOCK), 0L); // punched
      long _ = call("close", errno, fd);
      try (FileChannel names = FileChannel.open(dir)) {
        names.force(true);
        told("names:", "forced", "forced");
      } catch (IOException e) {
        told("names:", e.getMessage(), "forced");
      }
      String[] listed = dir.toFile().list();
      told("files:", listed == null ? -1 : listed.length, 1);
      long stream = call("opendir", errno, arena.allocateFrom(dir.toString()).address());
      told("opendir:", stream == 0 ? "errno " + errno[0] : "opened", "opened");
      if (stream != 0) {
        long _ = call("closedir", errno, stream);
      }
    }

    @Override
    public void check(Path dir, Recovered recovered) {}
  }

  private AnyFaults faults() throws IOException {
    return new AnyFaults(
        Calls.class,
        1,
        Duration.ofMinutes(10),
        List.of(),
        scratch,
        Files.createTempDirectory(scratch, "tape"));
  }

  private String struck(FaultKind kind, long nth) throws IOException {
    FaultCase at =
        new FaultCase(
            kind.title(), "", new FaultPoint(kind, nth)::injector, FaultCase.Contract.NOTHING_LOST);
    Lived lived = faults().begin(at).live();
    assumeFalse(lived.complaint().contains(NO_DIRECT), NO_DIRECT);
    assertTrue(lived.struck(), lived::complaint);
    assertEquals("", lived.unmeasured());
    return lived.complaint();
  }

  @Test
  void calls_are_counted_where_a_kernel_could_fail_them() throws IOException {
    AnyFaults.Counted counted = faults().count();
    assumeFalse(counted.reason().contains(NO_DIRECT), NO_DIRECT);
    Map<FaultKind, Long> possible = counted.possible();
    assertEquals("", counted.reason());
    assertEquals(4, possible.get(FaultKind.DISK_FULL), "the file, two writes, posix_fallocate");
    assertEquals(1, possible.get(FaultKind.SHORT_WRITE), "the write of several blocks");
    assertEquals(4, possible.get(FaultKind.OPEN_FAILS), "the file, and the directory three times");
    assertEquals(1, possible.get(FaultKind.FORCE_FAILS), "the force of the directory");
  }

  @Test
  void a_directory_can_fail_to_be_listed() throws IOException {
    String listed = struck(FaultKind.OPEN_FAILS, 4);
    assertTrue(listed.contains("files: 1; opendir: errno 24;"), listed); // EMFILE
  }

  @Test
  void a_short_write_with_o_direct_ends_at_a_block() throws IOException {
    String written = struck(FaultKind.SHORT_WRITE, 1);
    assertTrue(written.contains("a block: 4096; blocks: 4096;"), written);
  }

  @Test
  void a_full_disk_has_no_space_to_allocate() throws IOException {
    String full = struck(FaultKind.DISK_FULL, 4);
    assertTrue(full.contains("blocks: 12288; space: 28; hole: 0;"), full); // ENOSPC
  }
}
