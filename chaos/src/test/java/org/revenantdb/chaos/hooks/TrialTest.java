package org.revenantdb.chaos.hooks;

import static java.util.Map.entry;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.agent.FileAgent;
import org.revenantdb.chaos.agent.FileCall;
import org.revenantdb.chaos.agent.NativeCalls;
import org.revenantdb.chaos.crash.ChildPipe;
import org.revenantdb.chaos.crash.ForkedJvm;
import org.revenantdb.chaos.run.Recording;
import org.revenantdb.chaos.subject.Verdict;

/** What the trial of the agent says when the calls of one native method are not seen. */
class TrialTest {

  /** By native method: what the trial did with it. */
  private static final Map<String, String> WAYS =
      Map.ofEntries(
          entry("java.io.FileInputStream.open0", "FileDescriptor.sync of a FileInputStream"),
          entry("java.io.FileOutputStream.open0", "new FileOutputStream"),
          entry("java.io.FileOutputStream.write", "FileOutputStream.write of a byte"),
          entry("java.io.FileOutputStream.writeBytes", "FileOutputStream.write of an array"),
          entry("java.io.RandomAccessFile.open0", "new RandomAccessFile"),
          entry("java.io.RandomAccessFile.write0", "RandomAccessFile.write of a byte"),
          entry("java.io.RandomAccessFile.writeBytes0", "RandomAccessFile.write of an array"),
          entry("java.io.RandomAccessFile.setLength0", "RandomAccessFile.setLength"),
          entry("java.io.FileDescriptor.sync0", "FileDescriptor.sync"),
          entry("java.io.FileDescriptor.close0", "FileOutputStream.close"),
          entry("java.io.UnixFileSystem.createFileExclusively0", "File.createNewFile"),
          entry("java.io.UnixFileSystem.createDirectory0", "File.mkdir"),
          entry("java.io.UnixFileSystem.delete0", "File.delete"),
          entry("java.io.UnixFileSystem.rename0", "File.renameTo"),
          entry("java.nio.MappedMemoryUtils.force0", "MemorySegment.force"),
          entry("sun.nio.ch.FileDispatcherImpl.transferTo0", "FileChannel.transferTo"),
          entry("sun.nio.ch.FileDispatcherImpl.transferFrom0", "FileChannel.transferFrom"),
          entry("sun.nio.ch.UnixFileDispatcherImpl.write0", "FileChannel.write"),
          entry("sun.nio.ch.UnixFileDispatcherImpl.pwrite0", "FileChannel.write at a position"),
          entry(
              "sun.nio.ch.UnixFileDispatcherImpl.writev0", "FileChannel.write of several buffers"),
          entry("sun.nio.ch.UnixFileDispatcherImpl.force0", "FileChannel.force(false)"),
          entry("sun.nio.ch.UnixFileDispatcherImpl.truncate0", "FileChannel.truncate"),
          entry("sun.nio.ch.UnixFileDispatcherImpl.map0", "FileChannel.map"),
          entry("sun.nio.ch.UnixFileDispatcherImpl.unmap0", "the end of a mapping"),
          entry("sun.nio.fs.LinuxNativeDispatcher.directCopy0", "Files.copy"),
          entry("sun.nio.fs.UnixNativeDispatcher.open0", "FileChannel.open"),
          entry("sun.nio.fs.UnixNativeDispatcher.openat0", "SecureDirectoryStream.newByteChannel"),
          entry("sun.nio.fs.UnixNativeDispatcher.close0", "the closing in Files.copy"),
          entry("sun.nio.fs.UnixNativeDispatcher.fdopendir", "DirectoryStream.close"),
          entry("sun.nio.fs.UnixNativeDispatcher.mkdir0", "Files.createDirectory"),
          entry("sun.nio.fs.UnixNativeDispatcher.rmdir0", "Files.delete of a directory"),
          entry("sun.nio.fs.UnixNativeDispatcher.unlink0", "Files.delete"),
          entry("sun.nio.fs.UnixNativeDispatcher.unlinkat0", "SecureDirectoryStream.deleteFile"),
          entry("sun.nio.fs.UnixNativeDispatcher.rename0", "Files.move"),
          entry("sun.nio.fs.UnixNativeDispatcher.renameat0", "SecureDirectoryStream.move"),
          entry("sun.nio.fs.UnixNativeDispatcher.link0", "Files.createLink"),
          entry("sun.nio.fs.UnixNativeDispatcher.symlink0", "Files.createSymbolicLink"));

  /** What the trial does not show, and why. */
  private static final Map<String, String> UNUSED =
      Map.ofEntries(
          entry(
              "java.io.FileCleanable.cleanupClose0",
              "closes what nobody closed, when it is garbage"),
          entry("sun.nio.ch.UnixFileDispatcherImpl.closeIntFD", "closes no files"),
          entry(
              "sun.nio.fs.UnixFileSystem.bufferedCopy0",
              "copies where the operating system does not"),
          entry("sun.nio.fs.UnixNativeDispatcher.dup", "the directory is found by /proc on Linux"),
          entry("sun.nio.fs.UnixNativeDispatcher.mknod0", "makes special files"),
          entry("sun.nio.fs.UnixNativeDispatcher.write0", "writes to no files"));

  @TempDir private Path scratch;

  /** Leaves out one native method after the other. */
  public static final class Trials {

    private Trials() {}

    public static void main(String[] arguments) throws Throwable {
      ChildPipe pipe = ChildPipe.open();
      Path scratch = Path.of(arguments[0]);
      Tape tape = Tape.create(scratch.resolve("tape"), 1 << 20);
      AgentFiles files = new AgentFiles();
      files.install(Files.createDirectory(scratch.resolve("all")), tape);
      List<NativeCalls.Line> calls = NativeCalls.of(System.getProperty("os.name")).lines();
      for (NativeCalls.Line call : calls) {
        if (call.meaning() != FileCall.NOTHING) {
          files.listen(calls, call.toString());
          Path trial = Files.createDirectory(scratch.resolve(call.toString()));
          pipe.say(call + "\t" + files.tried(trial, tape));
        }
      }
      files.listen(calls, "");
      pipe.say("all\t" + files.tried(scratch.resolve("all"), tape));
    }
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void each_native_method_whose_calls_are_left_out_is_missed_by_the_trial() throws IOException {
    Map<String, String> failures = new HashMap<>();
    try (ForkedJvm child =
        ForkedJvm.of(Trials.class)
            .withCodeOf(Trials.class)
            .flags("--enable-native-access=ALL-UNNAMED", FileAgent.write(scratch).flag(""))
            .argument(scratch.toRealPath())
            .fork()) {
      for (String line; (line = child.readLine()) != null; ) {
        String[] parts = line.split("\t", 2);
        failures.put(parts[0], parts[1]);
      }
      child.demandOrderlyEnd();
    }

    assertEquals("", failures.remove("all"));
    Set<String> known = new HashSet<>(WAYS.keySet());
    known.addAll(UNUSED.keySet());
    assertEquals(known, failures.keySet());
    failures.forEach((method, failure) -> {
      if (UNUSED.containsKey(method)) {
        assertEquals("", failure, method + ": " + UNUSED.get(method));
      } else {
        assertTrue(
            List.of(failure.replaceFirst("^[^:]*: ", "").replaceFirst(" \\(lost.*", "").split("; "))
                .contains(WAYS.get(method)),
            () -> method + ": " + failure);
      }
    });
  }

  @Test
  void a_run_in_which_forces_are_not_seen_is_not_measured_and_they_are_named() throws IOException {
    List<String> flags = List.of("-Drevenant.chaos.unseen=java.io.FileDescriptor.sync0");
    try (AnyRun run =
        new AnyRun(AnyFilesTest.Replaced.class, 7, 1, Duration.ofMinutes(10), flags, scratch)
            .by(Recorders.AGENT)) {
      Recording recording = run.recording();
      assertEquals(Verdict.NOT_MEASURED, recording.verdict());
      assertTrue(recording.reason().contains("FileDescriptor.sync"), recording.reason());
    }
  }
}
