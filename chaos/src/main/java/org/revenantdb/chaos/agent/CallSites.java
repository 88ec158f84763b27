package org.revenantdb.chaos.agent;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.Opcode;
import java.lang.classfile.TypeKind;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.constantpool.MemberRefEntry;
import java.lang.classfile.constantpool.MethodRefEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.classfile.instruction.ExceptionCatch;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.AccessFlag;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the calls of native methods in {@code java.base}, and surrounds them with calls of {@link
 * Bridge}.
 *
 * <p>Threads: {@link #scan} once; then any may ask and change classes.
 */
final class CallSites {

  /** All classes of the JDK that call a native method for files are in these packages. */
  private static final List<String> PACKAGES =
      List.of("java/io", "java/nio", "sun/nio/ch", "sun/nio/fs");

  private static final int OBJECTS = 3;
  private static final int NUMBERS = 6;

  private static final ClassDesc BRIDGE = ClassDesc.of(Bridge.class.getName());
  private static final MethodTypeDesc BEFORE =
      MethodTypeDesc.of(
          ConstantDescs.CD_Object,
          ConstantDescs.CD_int,
          ConstantDescs.CD_Object,
          ConstantDescs.CD_Object,
          ConstantDescs.CD_Object,
          ConstantDescs.CD_long,
          ConstantDescs.CD_long,
          ConstantDescs.CD_long,
          ConstantDescs.CD_long,
          ConstantDescs.CD_long,
          ConstantDescs.CD_long);
  private static final MethodTypeDesc AFTER =
      MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_Object, ConstantDescs.CD_long);
  private static final MethodTypeDesc FAILED =
      MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_Object);

  /** Reads class files: loading a class here could need the class that is being loaded. */
  private static final ClassHierarchyResolver HIERARCHY =
      ClassHierarchyResolver.ofResourceParsing(CallSites::code).cached();

  private final NativeCalls table;

  /** By class, name and type: the number of the native method. */
  private final Map<String, Integer> numbers = new HashMap<>();

  private final Map<String, String> parents = new HashMap<>();
  private final Set<String> callers = new TreeSet<>();
  private final Set<String> problems = new TreeSet<>();

  private CallSites(NativeCalls table) {
    this.table = table;
  }

  /**
   * Looks for the native methods and their callers in this JVM's {@code java.base}.
   *
   * @param table the native methods
   * @return what was found; {@link #problems} says what was not
   * @throws IOException if the classes cannot be read
   */
  static CallSites scan(NativeCalls table) throws IOException {
    CallSites sites = new CallSites(table);
    FileSystem modules = FileSystems.getFileSystem(URI.create("jrt:/"));
    Map<String, ClassModel> models = new TreeMap<>();
    for (String name : PACKAGES) {
      try (Stream<Path> all = Files.walk(modules.getPath("/modules/java.base", name))) {
        for (Path path : all.filter(one -> one.toString().endsWith(".class")).toList()) {
          ClassModel model = ClassFile.of().parse(Files.readAllBytes(path));
          models.put(model.thisClass().asInternalName(), model);
          String parent = model.superclass().map(ClassEntry::asInternalName).orElse("");
          sites.parents.put(model.thisClass().asInternalName(), parent);
        }
      }
    }
    sites.findNatives(models);
    Set<Integer> called = new HashSet<>();
    models.forEach((name, model) -> sites.findCalls(name, model, called));
    for (int i = 0; i < table.lines().size(); i++) {
      NativeCalls.Line line = table.lines().get(i);
      if (line.required() && !called.contains(i)) {
        sites.problems.add("no class calls the native method " + line);
      }
    }
    return sites;
  }

  private static @Nullable InputStream code(ClassDesc type) {
    String name = type.descriptorString();
    try {
      return Files.newInputStream(
          FileSystems.getFileSystem(URI.create("jrt:/"))
              .getPath("/modules/java.base", name.substring(1, name.length() - 1) + ".class"));
    } catch (IOException e) {
      return null;
    }
  }

  private void findNatives(Map<String, ClassModel> models) {
    Map<String, Integer> byName = new HashMap<>();
    for (int i = 0; i < table.lines().size(); i++) {
      byName.put(table.lines().get(i).toString(), i);
    }
    for (String type : table.types()) {
      ClassModel model = models.get(type);
      if (model == null) {
        problems.add("there is no class " + type.replace('/', '.'));
        continue;
      }
      for (MethodModel method : model.methods()) {
        if (method.flags().has(AccessFlag.NATIVE)) {
          String name = method.methodName().stringValue();
          Integer number = byName.get(type.replace('/', '.') + "." + name);
          if (number == null) {
            problems.add(
                "the native method %s.%s is unknown".formatted(type.replace('/', '.'), name));
          } else {
            numbers.put(type + "." + name + method.methodType().stringValue(), number);
          }
        }
      }
    }
  }

  private void findCalls(String name, ClassModel model, Set<Integer> called) {
    for (PoolEntry entry : model.constantPool()) {
      if (entry instanceof MethodRefEntry method) {
        Integer number = number(method);
        if (number != null && table.lines().get(number).meaning() != FileCall.NOTHING) {
          called.add(number);
          callers.add(name);
        }
      }
    }
  }

  /** The native method that a reference means, which may be inherited; null: another method. */
  private @Nullable Integer number(MemberRefEntry method) {
    String rest = "." + method.name().stringValue() + method.type().stringValue();
    for (String type = method.owner().asInternalName(); type != null; type = parents.get(type)) {
      Integer number = numbers.get(type + rest);
      if (number != null) {
        return number;
      }
    }
    return null;
  }

  /** Why calls cannot be seen; empty if they can. */
  Set<String> problems() {
    return problems;
  }

  /** The classes with calls, with slashes. */
  Set<String> callers() {
    return callers;
  }

  /**
   * Surrounds the calls in a class. A class in which a reference was not changed is a problem.
   *
   * @param code a class file
   * @return the changed one
   */
  byte[] change(byte[] code) {
    ClassModel model = ClassFile.of().parse(code);
    Set<Integer> wanted = new HashSet<>();
    findCalls(model.thisClass().asInternalName(), model, wanted);
    Set<Integer> changed = new HashSet<>();
    byte[] result =
        ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(HIERARCHY))
            .transformClass(
                model,
                ClassTransform.transformingMethodBodies(
                    CodeTransform.ofStateful(() -> new Calls(changed))));
    wanted.removeAll(changed);
    for (int number : wanted) {
      problems.add(
          "%s uses the native method %s in a way that cannot be changed"
              .formatted(
                  model.thisClass().asInternalName().replace('/', '.'), table.lines().get(number)));
    }
    return result;
  }

  /** Changes the calls in one method. */
  private final class Calls implements CodeTransform {

    private final Set<Integer> changed;

    /** The first entry of the table of handlers counts, so those of the method come last. */
    private final List<ExceptionCatch> handlers = new ArrayList<>();

    Calls(Set<Integer> changed) {
      this.changed = changed;
    }

    @Override
    public void accept(CodeBuilder builder, CodeElement element) {
      switch (element) {
        case ExceptionCatch handler -> handlers.add(handler);
        case InvokeInstruction call when isReported(call) -> {
          int number = numberOf(call);
          changed.add(number);
          surround(builder, call, number);
        }
        default -> builder.with(element);
      }
    }

    @Override
    public void atEnd(CodeBuilder builder) {
      handlers.forEach(builder::with);
    }

    private boolean isReported(InvokeInstruction call) {
      Integer number = number(call.method());
      return number != null && table.lines().get(number).meaning() != FileCall.NOTHING;
    }

    private int numberOf(InvokeInstruction call) {
      Integer number = number(call.method());
      if (number == null) {
        throw new IllegalStateException();
      }
      return number;
    }
  }

  private static void surround(CodeBuilder code, InvokeInstruction call, int number) {
    List<TypeKind> kinds = new ArrayList<>();
    if (call.opcode() != Opcode.INVOKESTATIC) {
      kinds.add(TypeKind.REFERENCE);
    }
    List<ClassDesc> types = call.typeSymbol().parameterList();
    types.forEach(type -> kinds.add(TypeKind.from(type)));
    int[] places = new int[kinds.size()];
    // The receiver's type, and that of each argument, must be kept for the call itself.
    for (int i = places.length - 1; i >= 0; i--) {
      places[i] = code.allocateLocal(kinds.get(i));
      code.storeLocal(kinds.get(i), places[i]);
    }
    int begun = code.allocateLocal(TypeKind.REFERENCE);
    code.loadConstant(number);
    load(code, kinds, places, TypeKind.REFERENCE, OBJECTS);
    load(code, kinds, places, TypeKind.LONG, NUMBERS);
    code.invokestatic(BRIDGE, "before", BEFORE).astore(begun);
    for (int i = 0; i < places.length; i++) {
      code.loadLocal(kinds.get(i), places[i]);
    }
    TypeKind kind = TypeKind.from(call.typeSymbol().returnType());
    Label from = code.newBoundLabel();
    code.with(call);
    Label to = code.newBoundLabel();
    if (kind == TypeKind.VOID) {
      code.aload(begun).loadConstant(0L).invokestatic(BRIDGE, "after", AFTER);
    } else {
      int result = code.allocateLocal(kind);
      code.storeLocal(kind, result).aload(begun);
      loadNumber(code, kind, result);
      code.invokestatic(BRIDGE, "after", AFTER).loadLocal(kind, result);
    }
    Label behind = code.newLabel();
    code.goto_(behind);
    Label handler = code.newBoundLabel();
    int thrown = code.allocateLocal(TypeKind.REFERENCE);
    code.astore(thrown)
        .aload(begun)
        .invokestatic(BRIDGE, "failed", FAILED)
        .aload(thrown)
        .athrow()
        .labelBinding(behind)
        .exceptionCatchAll(from, to, handler);
  }

  /** Loads the arguments that are objects, or those that are numbers, filled up to a count. */
  private static void load(
      CodeBuilder code, List<TypeKind> kinds, int[] places, TypeKind wanted, int count) {
    int loaded = 0;
    for (int i = 0; i < places.length; i++) {
      boolean isObject = kinds.get(i) == TypeKind.REFERENCE;
      if (isObject == (wanted == TypeKind.REFERENCE)) {
        if (isObject) {
          code.aload(places[i]);
        } else {
          loadNumber(code, kinds.get(i), places[i]);
        }
        if (++loaded > count) {
          throw new IllegalStateException("a native method has too many arguments");
        }
      }
    }
    for (; loaded < count; loaded++) {
      if (wanted == TypeKind.REFERENCE) {
        code.aconst_null();
      } else {
        code.loadConstant(0L);
      }
    }
  }

  private static void loadNumber(CodeBuilder code, TypeKind kind, int place) {
    code.loadLocal(kind, place);
    switch (kind) {
      case LONG -> {}
      case INT, BOOLEAN, BYTE, CHAR, SHORT -> code.i2l();
      default -> throw new IllegalStateException("an argument of a native method is a " + kind);
    }
  }
}
