package org.revenantdb.chaos.hooks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.agent.FileCall;
import org.revenantdb.chaos.trace.Operation;

/** The record of calls of native methods. The test makes the calls, so no agent is needed. */
class AgentFilesTest {

  private static final boolean WINDOWS = System.getProperty("os.name").startsWith("Windows");

  @TempDir private Path scratch;

  private final Arena arena = Arena.ofShared();
  private final MemorySegment memory = arena.allocate(1 << 14);
  private final AgentFiles files = new AgentFiles(memory, List.of(FileCall.values()));
  private long used;
  private Path root;
  private Tape tape;

  @BeforeEach
  void start() throws IOException {
    root = Files.createDirectory(scratch.toRealPath().resolve("root"));
    tape = Tape.create(scratch.resolve("tape"), 1 << 20);
    files.start(root, tape, Faults.NOTHING, /* countsOpenings= */ false);
  }

  @AfterEach
  void close() {
    arena.close();
  }

  private long address(Object path) {
    Charset charset = WINDOWS ? StandardCharsets.UTF_16LE : StandardCharsets.UTF_8;
    long at = used;
    memory.setString(at, path.toString(), charset);
    used += 2L * path.toString().length() + 2;
    return at;
  }

  private @Nullable Object before(FileCall call, @Nullable Object two, long... numbers) {
    long[] n = Arrays.copyOf(numbers, 6);
    return files.before(call.ordinal(), null, two, null, n[0], n[1], n[2], n[3], n[4], n[5]);
  }

  private void after(@Nullable Object begun, long result) {
    if (begun != null) {
      files.after(begun, result);
    }
  }

  private void directory(Path path) throws IOException {
    Object begun = before(FileCall.CREATE_DIRECTORY_PATH, null, address(path));
    Files.createDirectory(path);
    after(begun, 0);
  }

  private void file(Path path) throws IOException {
    Object begun = before(FileCall.CREATE_FILE, path.toString());
    Files.createFile(path);
    after(begun, 1);
  }

  private void move(Path from, Path to) throws IOException {
    Object begun = before(FileCall.RENAME_PATHS, null, address(from), address(to));
    Files.move(from, to);
    after(begun, 0);
  }

  private void open(Path path, long number) {
    after(before(FileCall.OPEN_PATH, null, address(path), 0, 0), number);
  }

  private TraceBuilder built() {
    assertEquals(0, tape.lost(), "lost");
    return new TraceBuilder(tape, root.toString(), -1).read();
  }

  private List<Operation> operations() {
    assertEquals(List.of(), built().trace().gaps());
    return built().trace().operations();
  }

  private List<String> changes() {
    List<String> texts = new ArrayList<>();
    for (Operation operation : operations()) {
      texts.add(
          switch (operation) {
            case Operation.Create(_, int node, _, int parent, String name) ->
                "create %d %d/%s".formatted(node, parent, name);
            case Operation.Delete(_, int node, int parent, String name) ->
                "delete %d %d/%s".formatted(node, parent, name);
            case Operation.Write(_, int node, long offset, byte[] data) ->
                "write %d %d+%d".formatted(node, offset, data.length);
            default -> operation.getClass().getSimpleName();
          });
    }
    return texts;
  }

  @Test
  @DisabledOnOs(OS.WINDOWS)
  void a_name_in_an_open_directory_counts_where_the_directory_is_after_a_rename()
      throws IOException {
    directory(root.resolve("n"));
    file(root.resolve("n/file"));
    open(root.resolve("n"), 1000);
    move(root.resolve("n"), root.resolve("m"));
    directory(root.resolve("n"));
    file(root.resolve("n/file"));

    after(before(FileCall.DELETE_PATH_AT, null, 1000, address("file")), 0);

    Operation.Create first = (Operation.Create) operations().get(1);
    Operation.Delete deleted = (Operation.Delete) operations().getLast();
    assertEquals(first.node(), deleted.node());
  }

  @Test
  @DisabledOnOs(OS.WINDOWS)
  void a_name_in_an_open_directory_without_a_name_is_a_gap() throws IOException {
    directory(root.resolve("n"));
    open(root.resolve("n"), 1000);
    after(before(FileCall.DELETE_PATH, null, address(root.resolve("n"))), 0);

    Object begun = before(FileCall.DELETE_PATH_AT, null, 1000, address("file"));
    files.failed(begun);
    assertEquals(List.of(), built().trace().gaps(), "it did not succeed");

    after(before(FileCall.DELETE_PATH_AT, null, 1000, address("file")), 0);
    assertEquals(1, built().trace().gaps().size());
  }

  @Test
  @DisabledOnOs(OS.WINDOWS)
  void a_file_is_recorded_whichever_name_of_the_directory_is_used() throws IOException {
    Path alias = Files.createSymbolicLink(scratch.resolve("alias"), root);
    Path twice = Files.createSymbolicLink(scratch.resolve("twice"), scratch.resolve("alias"));
    Path into = Files.createSymbolicLink(scratch.resolve("into"), root.resolve("d"));
    directory(alias.resolve("d"));
    file(twice.resolve("d/one"));
    file(into.resolve("two"));
    file(into.resolve("../three"));
    file(scratch.resolve("four"));
    file(Files.createDirectory(scratch.resolve("e")).resolve("../root/five"));

    assertEquals(
        List.of(
            "create 1 0/d",
            "create 2 1/one",
            "create 3 1/two",
            "create 4 0/three",
            "create 5 0/five"),
        changes());
  }

  @Test
  @DisabledOnOs(OS.WINDOWS)
  void a_path_that_only_looks_as_if_it_were_in_the_directory_is_not_recorded() throws IOException {
    Path far = Files.createDirectories(scratch.resolve("far/x"));
    Files.createDirectory(scratch.resolve("far/root"));
    file(Files.createSymbolicLink(scratch.resolve("link"), far).resolve("../root/file"));

    assertTrue(Files.exists(scratch.resolve("far/root/file")));
    assertEquals(List.of(), changes());
  }

  @Test
  void a_cloned_file_is_its_creation_and_a_write_and_no_gap() throws IOException {
    Path source = Files.write(scratch.resolve("source"), new byte[100]);
    for (String name : List.of("copy", "other")) {
      Object begun =
          before(FileCall.CLONE_PATH, null, address(source), address(root.resolve(name)));
      Files.copy(source, root.resolve(name));
      after(begun, 0);
    }

    assertEquals(
        List.of("create 1 0/copy", "write 1 0+100", "create 2 0/other", "write 2 0+100"),
        changes());
  }

  @Test
  void a_failed_symbolic_link_is_no_gap() {
    FileCall call = WINDOWS ? FileCall.MAKE_SYMBOLIC_LINK_WINDOWS : FileCall.MAKE_SYMBOLIC_LINK;
    long its = address(root.resolve("link"));
    Object begun = before(call, null, its, its);
    files.failed(begun);
    assertEquals(List.of(), built().trace().gaps());

    after(before(call, null, its, its), 0);
    assertEquals(1, built().trace().gaps().size());
  }

  @Test
  void an_operation_that_waits_for_the_close_of_its_file_is_not_recorded()
      throws InterruptedException, IOException {
    file(root.resolve("file"));
    open(root.resolve("file"), 1000);
    AtomicReference<Object> begun = new AtomicReference<>("nothing");
    files.journal().lock().lock();
    Thread other =
        Thread.ofPlatform().start(() -> begun.set(before(FileCall.DUPLICATE, null, 1000)));
    while (!files.journal().lock().hasQueuedThread(other) && other.isAlive()) {
      Thread.onSpinWait();
    }
    Object closing = before(FileCall.CLOSE_NUMBER, null, 1000);
    assertNotNull(closing, "the lock is held while a file is closed");
    assertEquals(2, files.journal().lock().getHoldCount());
    after(closing, 0);
    files.journal().lock().unlock();
    other.join();

    assertNull(begun.get());
    assertFalse(files.journal().lock().isLocked());
    assertEquals(0, tape.lost());
  }

  @Test
  void a_call_whose_record_fails_leaves_the_lock_free_and_throws_nothing()
      throws InterruptedException {
    AtomicReference<Object> begun = new AtomicReference<>("nothing");
    long path = address(root.resolve("d"));
    Runnable call =
        () -> {
          Object token = before(FileCall.CREATE_DIRECTORY_PATH, null, path);
          begun.set(token);
          if (token != null) {
            files.failed(token);
          }
        };
    Thread.ofPlatform().start(call).join(); // the stack is known from now on
    assertNotNull(begun.get());
    tape.close(); // so what fails is the name of the thread, which is written under the lock
    Thread.ofPlatform().start(call).join();

    assertNull(begun.get());
    assertFalse(files.journal().lock().isLocked());
  }

  @Test
  void threads_of_an_earlier_record_get_numbers_that_no_other_thread_has()
      throws InterruptedException {
    CountDownLatch started = new CountDownLatch(1);
    CountDownLatch again = new CountDownLatch(1);
    Thread former =
        Thread.ofPlatform()
            .name("former")
            .start(() -> {
              try {
                directory(root.resolve("a"));
                started.countDown();
                again.await();
                directory(root.resolve("c"));
              } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
              }
            });
    started.await();
    files.start(root, tape, Faults.NOTHING, /* countsOpenings= */ false);
    Thread next =
        Thread.ofPlatform()
            .name("next")
            .start(() -> {
              try {
                directory(root.resolve("b"));
              } catch (IOException e) {
                throw new IllegalStateException(e);
              }
            });
    next.join();
    again.countDown();
    former.join();

    assertEquals(
        List.of("next", "former"),
        operations().stream().map(operation -> operation.origin().thread()).toList());
  }
}
