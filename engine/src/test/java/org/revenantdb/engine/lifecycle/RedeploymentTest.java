package org.revenantdb.engine.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.revenantdb.engine.testing.Samples.SMALL;
import static org.revenantdb.engine.testing.Samples.bytes;

import java.io.File;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.testing.OtherProcess;

/** What is left of the library in a JVM in which no database is open: nothing. */
class RedeploymentTest {
  private static final int TIMES = 10;

  @TempDir Path folder;

  /** An application that uses the library; the class loader that has it is dropped afterwards. */
  static final class Application implements Runnable {
    private final Path directory;

    Application(Path directory) {
      this.directory = directory;
    }

    @Override
    public void run() {
      try {
        Database.open(directory.resolve("file/below")).close();
        throw new AssertionError("there is a file in the way");
      } catch (StorageException refused) {
        // As it should be.
      }
      CountDownLatch durable = new CountDownLatch(1);
      try (Database db = Database.open(directory.resolve("db"), SMALL)) {
        try {
          Database.open(directory.resolve("db")).close();
          throw new AssertionError("it is open");
        } catch (StorageException refused) {
          if (refused.reason() != StorageException.Reason.LOCKED) {
            throw refused;
          }

          // As it should be.
        }
        Table table = db.getOrCreateTable("t");
        db.run(tx -> tx.put(table, bytes("k"), new byte[2_000]));
        Transaction tx = db.begin(TransactionOptions.of(Durability.LAZY));
        tx.put(table, bytes("lazy"), bytes("v"));
        tx.commit();
        tx.whenDurable().thenRun(durable::countDown);
        forget(db, table);
      }
    }

    private static void forget(Database db, Table table) {
      db.begin().put(table, bytes("forgotten"), bytes("v"));
    }
  }

  /** In a JVM of its own, where the library is on the class path. */
  static final class Server {
    private Server() {}

    public static void main(String[] arguments) throws Exception {
      Path directory = Path.of(arguments[0]);
      List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
      for (int i = 0; i < TIMES; i++) {
        loaders.add(deploy(directory));
        print("thread", threads());
      }
      print("handle", handles(directory));
      print(
          "property",
          System.getProperties().stringPropertyNames().stream()
              .filter(name -> name.startsWith("org.revenantdb.open."))
              .toList());
      useAllMemory();
      for (WeakReference<ClassLoader> loader : loaders) {
        while (loader.get() != null) {
          System.gc();
        }
      }
      System.out.println("all are gone");
    }

    /**
     * The JDK keeps the last of a kind behind soft references: the form of a method handle that a
     * record's hash code was made with, for one. They go when memory is needed.
     */
    private static void useAllMemory() {
      List<long[]> all = new ArrayList<>();
      try {
        while (true) {
          all.add(new long[1 << 20]);
        }
      } catch (OutOfMemoryError full) {
        all.clear();
      }
    }

    private static void print(String what, List<String> left) {
      left.forEach(one -> System.out.println(what + " is left: " + one));
    }

    private static WeakReference<ClassLoader> deploy(Path directory) throws Exception {
      try (URLClassLoader loader =
          new URLClassLoader(classPath(), ClassLoader.getPlatformClassLoader())) {
        var constructor =
            loader.loadClass(Application.class.getName()).getDeclaredConstructor(Path.class);
        constructor.setAccessible(true);
        ((Runnable) constructor.newInstance(directory)).run();
        return new WeakReference<>(loader);
      }
    }

    private static URL[] classPath() throws MalformedURLException {
      List<URL> urls = new ArrayList<>();
      for (String path : System.getProperty("java.class.path").split(File.pathSeparator)) {
        urls.add(Path.of(path).toUri().toURL());
      }
      return urls.toArray(URL[]::new);
    }

    private static List<String> threads() {
      return Thread.getAllStackTraces().keySet().stream()
          .map(Thread::getName)
          .filter(name -> name.startsWith("revenant"))
          .toList();
    }

    private static List<String> handles(Path directory) throws IOException {
      Path handles = Path.of("/proc/self/fd");
      if (!Files.exists(handles)) {
        return List.of();
      }
      List<String> left = new ArrayList<>();
      try (Stream<Path> all = Files.list(handles)) {
        for (Path handle : (Iterable<Path>) all::iterator) {
          try {
            String target = Files.readSymbolicLink(handle).toString();
            if (target.startsWith(directory + File.separator)) {
              left.add(target);
            }
          } catch (IOException closed) {
            continue; // the handle of the list itself
          }
        }
      }
      return left;
    }
  }

  @Test
  void whenNoDatabaseIsOpen_noThreadNoHandleAndNoClassLoaderIsLeft() throws Exception {
    Files.createFile(folder.resolve("file"));
    List<String> said = new ArrayList<>();
    try (OtherProcess server =
        OtherProcess.start(
            Server.class,
            List.of("-ea", "-Xmx256m"),
            ProcessBuilder.Redirect.INHERIT,
            folder.toRealPath().toString())) {
      for (String line = server.readLine(); line != null; line = server.readLine()) {
        said.add(line);
      }
    }
    assertEquals(Arrays.asList("all are gone"), said);
  }
}
