package org.revenantdb.engine.starved;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.Instruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.net.URL;
import java.util.List;
import java.util.Set;

/**
 * Loads the classes of RevenantDB once more, with a call of {@link Starvation#allocating} before
 * each {@code new}, each new array, each {@code invokedynamic}, and each call of a method of the
 * JDK that may allocate.
 *
 * <p>Test classes are loaded here too, so that they meet the changed classes, but unchanged. Static
 * initialisers are left alone: what they throw makes a class unusable for ever, which is not what
 * an engine can survive.
 */
final class StarvingLoader extends ClassLoader {
  private static final String OURS = "org.revenantdb.";

  private static final List<String> WATCHERS =
      List.of(
          "org.revenantdb.latch.LatchDebug",
          "org.revenantdb.latch.HoldRegistry",
          "org.revenantdb.latch.ObservedOrder",
          "org.revenantdb.latch.TrackedLatch",
          "org.revenantdb.latch.Place");

  private static final ClassDesc HOOK = Starvation.class.describeConstable().orElseThrow();
  private static final MethodTypeDesc NOTHING = MethodTypeDesc.of(ConstantDescs.CD_void);

  /** Methods of the JDK that may allocate, whatever they belong to. */
  private static final Set<String> GREEDY =
      Set.of(
          "add",
          "addAll",
          "addFirst",
          "addLast",
          "allocate",
          "allocateDirect",
          "asByteBuffer",
          "asSlice",
          "clone",
          "complete",
          "completeExceptionally",
          "compute",
          "computeIfAbsent",
          "copyOf",
          "copyOfRange",
          "descendingIterator",
          "entrySet",
          "execute",
          "increment",
          "iterator",
          "keySet",
          "merge",
          "of",
          "ofArray",
          "ofEntries",
          "offer",
          "put",
          "putIfAbsent",
          "reinterpret",
          "stream",
          "sort",
          "toArray",
          "toList",
          "toString",
          "valueOf",
          "values",
          "withInitial");

  /** Classes of the JDK of which any method may allocate. */
  private static final List<String> GREEDY_CLASSES =
      List.of("java/util/stream/", "java/nio/channels/", "java/nio/file/", "java/lang/String");

  StarvingLoader(ClassLoader parent) {
    super(parent);
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith(OURS) || name.startsWith(Starvation.class.getName())) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      return loaded == null ? define(name) : loaded;
    }
  }

  private Class<?> define(String name) throws ClassNotFoundException {
    URL url = getResource(name.replace('.', '/') + ".class");
    if (url == null) {
      throw new ClassNotFoundException(name);
    }
    byte[] bytes;
    try (InputStream in = url.openStream()) {
      bytes = in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    String from = url.toString();
    if (!from.contains("test-classes") && !from.contains("-tests.jar") && !watches(name)) {
      bytes = starved(bytes);
    }
    return defineClass(name, bytes, 0, bytes.length);
  }

  /** The debug mode of the latches: what it does not know it cannot say. */
  private static boolean watches(String name) {
    return WATCHERS.stream().anyMatch(name::startsWith);
  }

  private byte[] starved(byte[] original) {
    ClassFile classFile =
        ClassFile.of(
            ClassFile.ClassHierarchyResolverOption.of(
                ClassHierarchyResolver.ofResourceParsing(this)
                    .orElse(ClassHierarchyResolver.defaultResolver())));
    return classFile.transformClass(
        classFile.parse(original),
        ClassTransform.transformingMethodBodies(
            method -> !method.methodName().equalsString(ConstantDescs.CLASS_INIT_NAME),
            StarvingLoader::starve));
  }

  private static void starve(CodeBuilder builder, CodeElement element) {
    if (element instanceof Instruction instruction && mayAllocate(instruction)) {
      builder.invokestatic(HOOK, "allocating", NOTHING);
    }
    builder.with(element);
  }

  private static boolean mayAllocate(Instruction instruction) {
    return switch (instruction.opcode()) {
      case NEW, NEWARRAY, ANEWARRAY, MULTIANEWARRAY, INVOKEDYNAMIC -> true;
      case INVOKESTATIC, INVOKEVIRTUAL, INVOKEINTERFACE, INVOKESPECIAL ->
          mayAllocate((InvokeInstruction) instruction);
      default -> false;
    };
  }

  private static boolean mayAllocate(InvokeInstruction call) {
    String owner = call.owner().asInternalName();
    String method = call.name().stringValue();
    boolean isOfJdk = owner.startsWith("java/") || owner.startsWith("[");
    boolean isEmptyList = method.equals("of") && call.typeSymbol().parameterCount() == 0;
    return isOfJdk
        && !isEmptyList
        && !owner.equals("java/lang/invoke/VarHandle")
        && !owner.startsWith("java/util/concurrent/atomic/Atomic")
        && (GREEDY.contains(method) || GREEDY_CLASSES.stream().anyMatch(owner::startsWith));
  }
}
