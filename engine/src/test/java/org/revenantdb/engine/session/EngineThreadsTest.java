package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeElement;
import java.lang.classfile.MethodModel;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.module.ResolvedModule;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.revenantdb.recovery.file.EngineWork;

/**
 * No thread of the engine dies silently: the byte code of every class is searched for places that
 * start a thread, and each of them has to hand it an {@link EngineWork}. And no caller's thread
 * waits where an error would leave the wait half done.
 */
class EngineThreadsTest {
  private static final String WORK = EngineWork.class.getName().replace('.', '/');

  /** The threads that run nothing but a FileThread, which has an EngineWork. */
  private static final String WORKER = "org/revenantdb/recovery/file/FileThreadPool$Worker";

  /** What starts threads, or has others run something on theirs. */
  private static boolean startsThread(InvokeInstruction call) {
    String owner = call.owner().asInternalName();
    String name = call.name().stringValue();
    return switch (owner) {
      case "java/lang/Thread" ->
          name.equals("<init>") || name.equals("startVirtualThread") || name.equals("start");
      case "java/util/Timer",
          "java/util/concurrent/Executors",
          "java/util/concurrent/ForkJoinPool",
          "java/util/concurrent/ThreadPoolExecutor",
          "java/util/concurrent/ScheduledThreadPoolExecutor",
          "java/lang/ref/Cleaner" ->
          true;
      case "java/util/concurrent/CompletableFuture" ->
          name.endsWith("Async") || name.startsWith("orTimeout") || name.equals("delayedExecutor");
      default ->
          name.equals("parallelStream")
              || name.equals("parallel")
              || (owner.startsWith("java/lang/Thread$Builder")
                  && Set.of("start", "unstarted", "factory").contains(name));
    };
  }

  /** Places that start a thread without an EngineWork. */
  private static List<String> bareStarts(ClassModel type) {
    List<String> bare = new ArrayList<>();
    for (MethodModel method : type.methods()) {
      List<InvokeInstruction> calls = calls(method);
      boolean hasWork =
          calls.stream()
              .anyMatch(call ->
                  call.owner().asInternalName().equals(WORK) && call.name().equalsString("of"));
      for (InvokeInstruction call : calls) {
        boolean isBuilder = call.owner().asInternalName().startsWith("java/lang/Thread$Builder");
        if (startsThread(call) && !(isBuilder && hasWork) && !isStarted(call, calls)) {
          bare.add(
              type.thisClass().asInternalName()
                  + "."
                  + method.methodName()
                  + " calls "
                  + call.owner().asInternalName()
                  + "."
                  + call.name());
        }
      }
    }
    return bare;
  }

  /** The start of a thread that was made in the same method; how it was made is looked at. */
  private static boolean isStarted(InvokeInstruction call, List<InvokeInstruction> calls) {
    return call.owner().asInternalName().equals("java/lang/Thread")
        && call.name().equalsString("start")
        && calls.stream().anyMatch(other -> other.name().equalsString("unstarted"));
  }

  private static List<InvokeInstruction> calls(MethodModel method) {
    List<InvokeInstruction> calls = new ArrayList<>();
    method
        .code()
        .ifPresent(code -> {
          for (CodeElement element : code) {
            if (element instanceof InvokeInstruction call) {
              calls.add(call);
            }
          }
        });
    return calls;
  }

  /** All classes of the engine and of what it stands on, without those of tests. */
  private static List<ClassModel> classes() throws IOException {
    List<ClassModel> found = new ArrayList<>();
    ModuleLayer layer = EngineWork.class.getModule().getLayer();
    for (ResolvedModule module : layer.configuration().modules()) {
      if (module.name().startsWith("org.revenantdb.")) {
        Path location = Path.of(module.reference().location().orElseThrow());
        if (Files.isDirectory(location)) {
          addClasses(location, found);
        } else {
          try (FileSystem jar = FileSystems.newFileSystem(location)) {
            addClasses(jar.getPath("/"), found);
          }
        }
      }
    }
    return found;
  }

  private static void addClasses(Path root, List<ClassModel> found) throws IOException {
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : files.filter(one -> one.toString().endsWith(".class")).toList()) {
        if (!file.endsWith("module-info.class")) {
          found.add(ClassFile.of().parse(Files.readAllBytes(file)));
        }
      }
    }
  }

  /** Classes whose conditions only threads of the engine wait at: they are platform threads. */
  private static final Set<String> OWN_CONDITIONS =
      Set.of(
          "org/revenantdb/engine/buffer/PageReaders",
          "org/revenantdb/engine/buffer/PageWriter",
          "org/revenantdb/recovery/checkpoint/Checkpointer",
          "org/revenantdb/engine/lifecycle/BackgroundRedo");

  /** What can throw out of the middle of a wait, and leaves the wait half done. */
  private static boolean waitsAtCondition(InvokeInstruction call) {
    return call.owner().asInternalName().equals("java/util/concurrent/locks/Condition")
        && call.name().stringValue().startsWith("await");
  }

  @Test
  void no_thread_of_a_caller_waits_at_a_condition() throws IOException {
    Set<String> waiting = new TreeSet<>();
    for (ClassModel type : classes()) {
      for (MethodModel method : type.methods()) {
        if (calls(method).stream().anyMatch(EngineThreadsTest::waitsAtCondition)) {
          waiting.add(type.thisClass().asInternalName());
        }
      }
    }
    assertEquals(new TreeSet<>(OWN_CONDITIONS), waiting);
  }

  /** What parks a thread or lets it yield, and fails where a virtual thread has many frames. */
  private static boolean canFailToPark(InvokeInstruction call) {
    String owner = call.owner().asInternalName();
    String name = call.name().stringValue();
    return switch (owner) {
      case "java/lang/Thread" -> name.equals("yield") || name.equals("sleep");
      case "java/util/concurrent/locks/ReentrantLock" -> name.equals("<init>");
      default -> false;
    };
  }

  @Test
  void locks_and_yields_of_callers_are_those_that_a_deep_virtual_thread_survives()
      throws IOException {
    Set<String> calling = new TreeSet<>();
    for (ClassModel type : classes()) {
      for (MethodModel method : type.methods()) {
        if (calls(method).stream().anyMatch(EngineThreadsTest::canFailToPark)) {
          calling.add(type.thisClass().asInternalName());
        }
      }
    }
    assertEquals(
        Set.of(
            "org/revenantdb/engine/cli/TopCommand", // the main thread of a process of its own
            "org/revenantdb/latch/Parking",
            "org/revenantdb/latch/PatientLock"),
        calling);
  }

  @Test
  void every_thread_of_the_engine_is_started_with_an_EngineWork() throws IOException {
    List<String> bare = new ArrayList<>();
    Set<String> modules = new TreeSet<>();
    Set<String> threads = new TreeSet<>();
    for (ClassModel type : classes()) {
      String name = type.thisClass().asInternalName();
      modules.add(name.split("/")[2]);
      if (type.superclass().isPresent()
          && type.superclass().get().asInternalName().equals("java/lang/Thread")) {
        threads.add(name);
      }
      if (!name.equals(WORKER)) {
        bare.addAll(bareStarts(type));
      }
    }
    assertEquals(List.of(), bare);
    assertEquals(Set.of(WORKER), threads);
    assertTrue(modules.containsAll(Set.of("latch", "recovery", "engine")), modules.toString());
  }

  /** A thread with work of its own, in each of the ways that are looked for. */
  private static final class Bare {
    Thread made(Runnable work) {
      return new Thread(work);
    }

    Thread built(Runnable work) {
      return Thread.ofPlatform().unstarted(work);
    }

    Thread virtual(Runnable work) {
      return Thread.ofVirtual().start(work);
    }

    Object pool() {
      return java.util.concurrent.Executors.newSingleThreadExecutor();
    }

    Object future(Runnable work) {
      return java.util.concurrent.CompletableFuture.runAsync(work);
    }

    Thread withWork(Runnable work) {
      return Thread.ofVirtual().start(EngineWork.of(work, cause -> {}));
    }
  }

  @Test
  void a_thread_without_one_is_found() throws IOException {
    ClassModel bare;
    try (var bytes = Bare.class.getResourceAsStream("EngineThreadsTest$Bare.class")) {
      bare = ClassFile.of().parse(bytes.readAllBytes());
    }
    Set<String> found = new TreeSet<>();
    bareStarts(bare).forEach(call -> found.add(call.replaceAll(".*Bare\\.| calls .*", "")));
    assertEquals(Set.of("made", "built", "virtual", "pool", "future"), found);
  }
}
