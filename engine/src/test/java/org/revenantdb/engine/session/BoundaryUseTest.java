package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.instruction.ExceptionCatch;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.LabelTarget;
import java.lang.reflect.AccessFlag;
import java.lang.reflect.Field;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Waits;

/**
 * No public method lets a failure of the engine past the {@link Boundary}: the byte code of each is
 * searched for calls that are neither harmless nor inside of a try whose handler ends there.
 */
class BoundaryUseTest {
  private static final String PACKAGE = "org/revenantdb/engine/";

  /**
   * The classes that a user calls methods of; the others, such as records, enums, exceptions and
   * statistics, only hold values.
   */
  private static final List<String> API =
      List.of(
          "Database",
          "Transaction",
          "Cursor",
          "Follower",
          "BulkLoad",
          "KeyBatch",
          "Sequence",
          "Savepoint",
          "session/StreamedValue",
          "Table");

  /** What a user is given as something else: the stream of a large value. */
  private static final String STREAM = "Transaction$1";

  /** Code of the user: what it throws is the user's. */
  private static final Set<String> OF_THE_USER =
      Set.of(
          PACKAGE + "ThrowingCall.call",
          PACKAGE + "ThrowingBody.run",
          PACKAGE + "ValueVisitor.value",
          PACKAGE + "overflow/OverflowWriter.length"); // only a field

  /**
   * Calls that only compare, or make an exception, or are of something that does what this demands.
   */
  private static final Set<String> HARMLESS =
      Set.of(
          "Names",
          "Misuse$OfArgument",
          "Misuse$OfState",
          "StreamedValue$Steps",
          "Transaction$Additions",
          "Transaction$PlaceVisitor");

  /**
   * Calls that only count, wait, set a flag, or use memory of the caller; the stack's reserve
   * throws errors alone.
   */
  private static final Set<String> CANNOT_FAIL =
      Set.of(
          "org/revenantdb/recovery/file/FileThread.databaseOpens",
          "org/revenantdb/recovery/file/FileThread.databaseClosed",
          PACKAGE + "archive/Following.failure",
          PACKAGE + "archive/Following.hasEnded",
          PACKAGE + "archive/Following.shownLsn",
          PACKAGE + "session/ForgottenTransactions.awaitEnd",
          PACKAGE + "session/Engine.gate",
          PACKAGE + "session/OperationGate.isClosed",
          PACKAGE + "session/TransactionCore.id",
          PACKAGE + "session/TransactionCore.isOpen",
          PACKAGE + "session/KeyText.of",
          PACKAGE + "catalog/TableState.name",
          PACKAGE + "catalog/TableState.options",
          PACKAGE + "catalog/TableState.isOf",
          PACKAGE + "page/KeyBuffer.<init>",
          PACKAGE + "page/KeyBuffer.add",
          PACKAGE + "page/KeyBuffer.at",
          PACKAGE + "page/KeyBuffer.bytesUsed",
          PACKAGE + "page/KeyBuffer.clear",
          PACKAGE + "page/KeyBuffer.key",
          PACKAGE + "page/KeyBuffer.size",
          PACKAGE + "version/ValueBuffer.<init>",
          PACKAGE + "version/ValueBuffer.array",
          PACKAGE + "version/ValueBuffer.clear",
          PACKAGE + "version/ValueBuffer.exists",
          PACKAGE + "version/ValueBuffer.length",
          PACKAGE + "version/ValueBuffer.offset",
          PACKAGE + "version/ValueBuffer.other",
          PACKAGE + "version/ValueBuffer.toArray",
          "org/revenantdb/latch/StackReserve.ensure",
          "org/revenantdb/latch/StackReserve.ensureForTwo",
          "java/util/concurrent/atomic/AtomicBoolean.get",
          "java/util/concurrent/atomic/AtomicBoolean.getAndSet");

  private final Map<String, ClassModel> classes = new HashMap<>();

  private ClassModel model(String name) {
    return classes.computeIfAbsent(
        name,
        missing -> {
          try (InputStream bytes =
              BoundaryUseTest.class.getResourceAsStream("/" + PACKAGE + missing + ".class")) {
            return ClassFile.of().parse(bytes.readAllBytes());
          } catch (IOException e) {
            throw new IllegalStateException(e);
          }
        });
  }

  private record Method(String owner, String name, String type) {
    @Override
    public String toString() {
      return owner + "." + name + type;
    }
  }

  /** The methods from which a failure of the engine could get to the user, and by which call. */
  private List<String> escapes(List<Method> entries) {
    List<String> escapes = new ArrayList<>();
    Deque<Method> open = new ArrayDeque<>(entries);
    Set<Method> seen = new HashSet<>(entries);
    while (!open.isEmpty()) {
      Method method = open.remove();
      for (Method call : unguarded(method)) {
        if (isApi(call.owner)) {
          if (seen.add(call)) {
            open.add(call);
          }
        } else if (!isHarmless(call)) {
          escapes.add(method + " calls " + call);
        }
      }
    }
    return escapes;
  }

  private static boolean isApi(String owner) {
    return owner.startsWith(PACKAGE)
        && (API.contains(owner.substring(PACKAGE.length())) || owner.equals(PACKAGE + STREAM));
  }

  private static boolean isHarmless(Method call) {
    if (CANNOT_FAIL.contains(call.owner + "." + call.name)) {
      return true;
    }
    if (!call.owner.startsWith("org/revenantdb/")) {
      // Of Java's own, only what has threads brings failures of another one.
      return !call.owner.startsWith("java/util/concurrent/") || call.name.equals("<init>");
    }
    if (OF_THE_USER.contains(call.owner + "." + call.name)) {
      return true;
    }
    String name = call.owner.substring(call.owner.lastIndexOf('/') + 1);
    return name.endsWith("Exception")
        || name.equals("Boundary")
        || HARMLESS.contains(name)
        || call.name.equals("told")
        || isOfValues(call.owner);
  }

  private static boolean isOfValues(String owner) {
    try {
      Class<?> type = Class.forName(owner.replace('/', '.'));
      return owner.startsWith(PACKAGE) && (type.isRecord() || type.isEnum() || type == Waits.class);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The calls of a method that no handler sends to the boundary. */
  private List<Method> unguarded(Method method) {
    ClassModel owner = model(method.owner.substring(PACKAGE.length()));
    List<Method> calls = new ArrayList<>();
    for (MethodModel one : owner.methods()) {
      if (one.methodName().equalsString(method.name)
          && one.methodType().equalsString(method.type)) {
        one.code().ifPresent(code -> calls.addAll(unguarded(code)));
      }
    }
    return calls;
  }

  private static List<Method> unguarded(CodeModel code) {
    List<CodeElement> elements = code.elementList();
    Map<Label, Integer> places = new HashMap<>();
    for (int i = 0; i < elements.size(); i++) {
      if (elements.get(i) instanceof LabelTarget target) {
        places.put(target.label(), i);
      }
    }
    List<Method> calls = new ArrayList<>();
    for (int i = 0; i < elements.size(); i++) {
      if (elements.get(i) instanceof InvokeInstruction call
          && !isGuarded(code, elements, places, i)) {
        calls.add(
            new Method(
                call.owner().asInternalName(),
                call.name().stringValue(),
                call.type().stringValue()));
      }
    }
    return calls;
  }

  private static boolean isGuarded(
      CodeModel code, List<CodeElement> elements, Map<Label, Integer> places, int at) {
    for (ExceptionCatch handler : code.exceptionHandlers()) {
      boolean isOfAll =
          handler.catchType().isPresent()
              && handler.catchType().get().asInternalName().equals("java/lang/RuntimeException");
      if (isOfAll
          && places.get(handler.tryStart()) <= at
          && at < places.get(handler.tryEnd())
          && endsAtBoundary(elements, places.get(handler.handler()))) {
        return true;
      }
    }
    return false;
  }

  /** The first call of a handler, but for the one that finds the engine, makes the exception. */
  private static boolean endsAtBoundary(List<CodeElement> elements, int handler) {
    for (int i = handler; i < elements.size() && i < handler + 20; i++) {
      if (elements.get(i) instanceof InvokeInstruction call) {
        return call.name().equalsString("told");
      }
    }
    return false;
  }

  private List<Method> publicMethods(String name) {
    List<Method> found = new ArrayList<>();
    for (MethodModel method : model(name).methods()) {
      if (method.flags().has(AccessFlag.PUBLIC) && !method.methodName().equalsString("<init>")) {
        found.add(
            new Method(
                PACKAGE + name,
                method.methodName().stringValue(),
                method.methodType().stringValue()));
      }
    }
    return found;
  }

  @Test
  void no_public_method_lets_a_failure_of_the_engine_past_the_boundary() {
    List<Method> entries = new ArrayList<>();
    API.forEach(name -> entries.addAll(publicMethods(name)));
    entries.addAll(publicMethods(STREAM));
    assertTrue(entries.size() > 80, "methods: " + entries.size());
    assertEquals(List.of(), escapes(entries));
  }

  @Test
  void every_class_with_methods_of_the_engine_is_looked_at() {
    List<String> unknown = new ArrayList<>();
    for (Class<?> type : exported()) {
      boolean isKnown =
          type == Waits.class
              || holdsOnlyValues(type)
              || API.contains(type.getSimpleName())
              || type.isInterface()
              || type.isRecord()
              || type.isEnum()
              || Throwable.class.isAssignableFrom(type);
      if (!isKnown) {
        unknown.add(type.getSimpleName());
      }
    }
    assertEquals(List.of(), unknown);
  }

  /** Nothing of the engine is within its reach. */
  private static boolean holdsOnlyValues(Class<?> type) {
    return Arrays.stream(type.getDeclaredFields())
        .map(Field::getType)
        .map(field -> field.isArray() ? field.getComponentType() : field)
        .allMatch(field ->
            !field.getName().startsWith("org.revenantdb.")
                || field.getPackage() == type.getPackage());
  }

  private static List<Class<?>> exported() {
    List<Class<?>> found = new ArrayList<>();
    try (var files =
        java.nio.file.Files.list(
            java.nio.file.Path.of(
                    Database.class.getProtectionDomain().getCodeSource().getLocation().toURI())
                .resolve(PACKAGE))) {
      for (var file : files.toList()) {
        String name = file.getFileName().toString();
        if (name.endsWith(".class") && !name.startsWith("package-info")) {
          Class<?> type =
              Class.forName("org.revenantdb.engine." + name.substring(0, name.length() - 6));
          if (java.lang.reflect.Modifier.isPublic(type.getModifiers())) {
            found.add(type);
          }
        }
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    return found;
  }

  /** A method that has no try, one that has, and one that hides the call behind another. */
  @Test
  void a_call_without_a_try_is_found() {
    assertTrue(
        unguarded(
                    new Method(
                        PACKAGE + "Transaction",
                        "core",
                        "()L" + PACKAGE + "session/TransactionCore;"))
                .size()
            == 1);
    assertEquals(List.of(), escapes(List.of(new Method(PACKAGE + "Transaction", "commit", "()V"))));
    assertEquals(
        1,
        escapes(List.of(new Method(PACKAGE + "Transaction", "checkOpen", "()V"))).stream()
            .filter(call -> call.contains("checkOpen"))
            .count());
  }
}
