package org.revenantdb.suite.fuzz;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Opens RevenantDB with the fault of a file named {@code plant-FAULT}. Sound databases have no such
 * file.
 */
public final class PlantedOpener implements Subject.Opener {

  static final String PLANT = "plant-";

  private final RevenantSubject.Opener sound = new RevenantSubject.Opener();

  /** Creates an opener. Called by children. */
  public PlantedOpener() {}

  @Override
  public Subject open(Path directory, boolean readOnly) throws Exception {
    String fault = fault(directory);
    switch (fault) {
      case "changes" -> {
        Files.writeString(directory.resolve("log").resolve("changed"), "by a refusal");
        throw new IllegalPlantException();
      }
      case "refuses" -> throw new IllegalPlantException();
      case "raw" -> throw new IndexOutOfBoundsException("planted");
      case "hang" -> new CountDownLatch(1).await();
      case "halt" -> Runtime.getRuntime().halt(77);
      default -> {}
    }
    if (!fault.isEmpty()) {
      Files.delete(directory.resolve(PLANT + fault));
    }
    return new Planted(sound.open(directory, readOnly), fault, directory);
  }

  private static String fault(Path directory) throws IOException {
    try (var files = Files.list(directory)) {
      return files
          .map(file -> String.valueOf(file.getFileName()))
          .filter(name -> name.startsWith(PLANT))
          .map(name -> name.substring(PLANT.length()))
          .findFirst()
          .orElse("");
    }
  }

  @Override
  public boolean isRefusal(Throwable thrown) {
    return thrown instanceof IllegalPlantException || sound.isRefusal(thrown);
  }

  @Override
  public String threads() {
    return "planted";
  }

  /** The refusals of this subject. */
  static final class IllegalPlantException extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  /** Passes all calls on, except for the fault. */
  private static final class Planted implements Subject {

    private final Subject sound;
    private final String fault;
    private final Path directory;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final CountDownLatch begun = new CountDownLatch(1);
    private final @Nullable Thread worker;

    Planted(Subject sound, String fault, Path directory) {
      this.sound = sound;
      this.fault = fault;
      this.directory = directory;
      worker = fault.equals("gone") ? null : work();
    }

    /**
     * Lives from the open to the close, like the threads of an engine. It has begun on return,
     * because a trial records the threads right after the open.
     */
    private Thread work() {
      Thread thread =
          Thread.ofPlatform()
              .daemon()
              .name("planted-worker")
              .start(() -> {
                begun.countDown();
                awaitOrInterrupt(closed);
              });
      awaitOrInterrupt(begun);
      return thread;
    }

    /** An interrupt ends the wait, and is kept. */
    private static void awaitOrInterrupt(CountDownLatch latch) {
      try {
        latch.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public List<String> tables() {
      switch (fault) {
        case "memory" -> throw new OutOfMemoryError("planted");
        case "told" -> throw new IllegalPlantException();
        case "grows" -> grow();
        case "dies" -> die();
        default -> {}
      }
      return sound.tables();
    }

    @Override
    public List<String> prepared() {
      return sound.prepared();
    }

    @Override
    public void scan(String table, ObjLongConsumer<String> row) throws Exception {
      sound.scan(table, (key, mark) -> row.accept(key, fault.equals("wrong") ? mark + 1 : mark));
    }

    @Override
    public @Nullable Long get(String table, String key) throws Exception {
      return sound.get(table, key);
    }

    @Override
    public void put(String table, String key, byte[] value) {
      if (!fault.equals("forgets") || !table.equals("small")) {
        sound.put(table, key, value);
      }
    }

    @Override
    public void delete(String table, String key) {
      sound.delete(table, key);
    }

    @Override
    public void decide(String prepared, boolean commit) {
      sound.decide(prepared, commit);
    }

    @Override
    public Map<String, Long> sequences() {
      Map<String, Long> values = new TreeMap<>(sound.sequences());
      switch (fault) {
        case "repeats" -> values.put("plain", 11L); // the last one that was given out before
        case "repeats-down" -> values.put("down", -1L);
        case "repeats-reversed" -> values.put("reversed", 1L << 62);
        case "strange-number" -> values.put("plain", 12L);
        case "no-sequence" -> values.remove("reversed");
        default -> {}
      }
      return values;
    }

    @Override
    public void check() {
      sound.check();
    }

    private static void die() {
      Thread thread =
          Thread.ofPlatform()
              .name("planted-victim")
              .start(() -> {
                throw new IllegalStateException("planted");
              });
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private void grow() {
      byte[] chunk = new byte[1 << 20];
      chunk[0] = 1;
      try (var out = Files.newOutputStream(directory.resolve("grown"))) {
        while (true) {
          out.write(chunk);
        }
      } catch (IOException full) {
        // intended
      }
    }

    @Override
    public void maintain(int which) {
      sound.maintain(which);
    }

    @Override
    public void close() {
      sound.close();
      if (!fault.equals("leaks")) {
        closed.countDown();
      }
      Thread there = worker;
      if (there != null && !fault.equals("leaks")) {
        try {
          there.join();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }
}
