package org.revenantdb.chaos.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;
import org.revenantdb.chaos.run.HonestTiny;
import org.revenantdb.chaos.teeth.TinyStore;

/** What stores do with the path that they receive, and with the files behind it. */
class PathsInMemoryTest {

  @TempDir private Path kept;

  @BeforeEach
  void keepFailuresHere() {
    System.setProperty(CrashTestSettings.DIR, kept.toString());
  }

  @AfterEach
  void forgetProperties() {
    System.clearProperty(CrashTestSettings.DIR);
  }

  private static Events run(Class<?> type) {
    return EngineTestKit.engine("junit-jupiter")
        .selectors(selectClass(type))
        .execute()
        .testEvents();
  }

  private static String message(Events events) {
    return events
        .finished()
        .map(event -> event.getRequiredPayload(TestExecutionResult.class))
        .flatMap(result -> result.getThrowable().stream())
        .map(thrown -> String.valueOf(thrown.getMessage()))
        .toList()
        .toString();
  }

  /** Knows in a static field which directories are open, by their text. */
  @CrashTest(states = 200, workers = 4)
  static class LocksByText extends HonestTiny {

    private static final Set<String> OPEN = ConcurrentHashMap.newKeySet();

    private String mine = "";

    @Override
    public TinyStore open(Path dir) throws Exception {
      String text = dir.toAbsolutePath().toString();
      if (!OPEN.add(text)) {
        throw new IOException("a store in this process has " + text + " open");
      }
      mine = text;
      try {
        return super.open(dir);
      } catch (Exception e) {
        OPEN.remove(text);
        throw e;
      }
    }

    @Override
    public void close(TinyStore store) throws Exception {
      OPEN.remove(mine);
      super.close(store);
    }
  }

  @Test
  void a_store_that_locks_the_text_of_its_path_is_not_accused() {
    Events events = run(LocksByText.class);
    assertEquals(1, events.succeeded().count(), () -> message(events));
  }

  /** Makes a file of the host from the text of its path. */
  @CrashTest(states = 10)
  static class UsesText extends HonestTiny {
    @Override
    public TinyStore open(Path dir) throws Exception {
      new RandomAccessFile(new File(dir.toString(), "elsewhere"), "rw").close();
      return super.open(dir);
    }
  }

  /** Makes a directory of the host from the text of its path, and takes its failure as its own. */
  @CrashTest(states = 10)
  static class MakesDirectories extends HonestTiny {
    @Override
    public TinyStore open(Path dir) throws Exception {
      File file = new File(dir.toString(), "elsewhere");
      if (!file.mkdirs()) {
        throw new IllegalStateException("cannot make " + file);
      }
      return super.open(dir);
    }
  }

  @Test
  void a_store_that_uses_the_text_of_its_path_writes_nowhere_and_the_verdict_names_the_cause() {
    Events events = run(UsesText.class);
    assertEquals(1, events.aborted().count(), () -> message(events));
    assertTrue(message(events).contains("Use files = ANY"), () -> message(events));
    Events others = run(MakesDirectories.class);
    assertEquals(1, others.failed().count(), () -> message(others));
    assertTrue(message(others).contains("Perhaps the store uses the text"), () -> message(others));
  }

  /** Makes a file of the host from the text of its path; the message of the failure lacks it. */
  @CrashTest(states = 10)
  static class CreatesFiles extends HonestTiny {
    @Override
    public TinyStore open(Path dir) throws Exception {
      if (!create(new File(dir.toString(), "elsewhere"))) {
        throw new IllegalStateException();
      }
      return super.open(dir);
    }

    boolean create(File file) throws IOException {
      return file.createNewFile();
    }
  }

  /** The same, and reports the failure with the path. */
  @CrashTest(states = 10)
  static class WrapsFailures extends CreatesFiles {
    @Override
    boolean create(File file) {
      try {
        return super.create(file);
      } catch (IOException e) {
        throw new IllegalStateException("cannot create " + file, e);
      }
    }
  }

  @Test
  void a_call_of_java_io_File_is_told_from_any_frame_of_any_cause() {
    Events events = run(CreatesFiles.class);
    assertEquals(1, events.failed().count(), () -> message(events));
    assertTrue(message(events).contains("Perhaps the store uses the text"), () -> message(events));
    Events wrapped = run(WrapsFailures.class);
    assertEquals(1, wrapped.aborted().count(), () -> message(wrapped));
    assertTrue(message(wrapped).contains("Use files = ANY"), () -> message(wrapped));
  }

  /** Reads its files through read-only mappings. */
  @CrashTest(states = 50)
  static class MapsToRead extends HonestTiny {
    @Override
    public TinyStore open(Path dir) throws Exception {
      TinyStore store = super.open(dir);
      try (var files = Files.list(dir)) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          try (FileChannel channel = FileChannel.open(file)) {
            byte[] read = new byte[(int) channel.size()];
            channel.map(MapMode.READ_ONLY, 0, read.length).get(read);
            if (!Arrays.equals(read, Files.readAllBytes(file))) {
              throw new IOException("the mapping of " + file + " differs");
            }
          }
        }
      }
      return store;
    }
  }

  /** Reads its files as current code does, through mappings whose life ends with an arena. */
  @CrashTest(states = 50)
  static class MapsIntoArenas extends HonestTiny {
    @Override
    public TinyStore open(Path dir) throws Exception {
      TinyStore store = super.open(dir);
      try (var files = Files.list(dir)) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          try (Arena arena = Arena.ofConfined();
              FileChannel channel = FileChannel.open(file)) {
            byte[] read =
                channel
                    .map(MapMode.READ_ONLY, 0, channel.size(), arena)
                    .toArray(ValueLayout.JAVA_BYTE);
            if (!Arrays.equals(read, Files.readAllBytes(file))) {
              throw new IOException("the mapping of " + file + " differs");
            }
          }
        }
      }
      return store;
    }
  }

  @Test
  void a_store_that_maps_files_for_reading_is_measured() {
    for (Class<?> store : List.of(MapsToRead.class, MapsIntoArenas.class)) {
      Events events = run(store);
      assertEquals(1, events.succeeded().count(), () -> message(events));
    }
  }
}
