package org.revenantdb.chaos.inject;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassHierarchyResolver.ClassHierarchyInfo;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.Instruction;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.LineNumber;
import java.lang.classfile.instruction.NewMultiArrayInstruction;
import java.lang.classfile.instruction.NewObjectInstruction;
import java.lang.classfile.instruction.NewPrimitiveArrayInstruction;
import java.lang.classfile.instruction.NewReferenceArrayInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Puts calls of the {@link Hook} into a class: before each place that allocates, and at the
 * beginning of each method. The README lists the places.
 *
 * <p>Static initializers are left alone: a class whose initializer has failed is unusable for ever.
 *
 * <p>Threads: any.
 */
public final class PointTransformer {

  private static final ClassDesc HOOK = ClassDesc.of(Hook.class.getName());
  private static final MethodTypeDesc OF_POINT =
      MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_int);

  /** Methods of the JDK that may allocate, whatever they belong to. */
  private static final Set<String> GREEDY =
      Set.of(
          "add",
          "addAll",
          "addFirst",
          "addIfAbsent",
          "addLast",
          "allOf",
          "allocate",
          "allocateDirect",
          "anyOf",
          "asByteBuffer",
          "asReadOnlyBuffer",
          "asSlice",
          "clone",
          "completeExceptionally",
          "compute",
          "computeIfAbsent",
          "copyOf",
          "copyOfRange",
          "descendingIterator",
          "descendingMap",
          "duplicate",
          "entrySet",
          "exceptionally",
          "execute",
          "handle",
          "headMap",
          "increment",
          "invokeAll",
          "iterator",
          "keySet",
          "listIterator",
          "merge",
          "newCondition",
          "of",
          "ofArray",
          "ofEntries",
          "ofNullable",
          "offer",
          "offerFirst",
          "offerLast",
          "push",
          "put",
          "putAll",
          "putFirst",
          "putIfAbsent",
          "putLast",
          "readAllBytes",
          "readNBytes",
          "reinterpret",
          "runAsync",
          "schedule",
          "scheduleAtFixedRate",
          "scheduleWithFixedDelay",
          "slice",
          "sort",
          "spliterator",
          "stream",
          "subList",
          "subMap",
          "submit",
          "supplyAsync",
          "tailMap",
          "thenAccept",
          "thenApply",
          "thenCombine",
          "thenCompose",
          "thenRun",
          "toArray",
          "toList",
          "toString",
          "valueOf",
          "values",
          "whenComplete",
          "withInitial",
          "wrap");

  /** Methods that allocate nothing, whatever they belong to. */
  private static final Set<String> MODEST =
      Set.of(
          "charAt",
          "close",
          "compareTo",
          "contains",
          "contentEquals",
          "delete",
          "deleteCharAt",
          "endsWith",
          "equals",
          "equalsIgnoreCase",
          "force",
          "getChars",
          "getFileSystem",
          "hashCode",
          "indexOf",
          "isAbsolute",
          "isBlank",
          "isEmpty",
          "isOpen",
          "isValid",
          "lastIndexOf",
          "length",
          "position",
          "regionMatches",
          "reverse",
          "size",
          "startsWith");

  /** Greedy methods that allocate nothing in these classes. */
  private static final Map<String, Set<String>> EXCEPTIONS =
      Map.of(
          "java/lang/Boolean", Set.of("valueOf"),
          "java/lang/Byte", Set.of("valueOf"),
          "java/lang/String", Set.of("toString"),
          "java/util/EnumMap", Set.of("put"),
          "java/util/EnumSet", Set.of("add"),
          "java/util/concurrent/ArrayBlockingQueue", Set.of("add", "offer", "put"));

  /** Methods that allocate in one class, and not in others with that name. */
  private static final Map<String, Set<String>> ALSO =
      Map.of(
          "java/io/ByteArrayOutputStream", Set.of("write", "writeBytes"),
          "java/lang/Thread", Set.of("start", "startVirtualThread"));

  /** Classes of the JDK of which any other method may allocate. */
  private static final List<String> GREEDY_CLASSES =
      List.of("java/util/stream/", "java/nio/channels/", "java/nio/file/", "java/lang/String");

  private static final String NOT = "!";

  private final ErrorSites sites;
  private final List<String> changed;
  private final List<String> others;

  /** The subject, its superclasses, and the outermost classes around them. */
  private final Set<String> ofSubject;

  /**
   * Creates a transformer.
   *
   * @param sites receives the points
   * @param prefixes the beginnings of the names of the classes that are changed; behind {@code !}
   *     of those that are not
   * @param subject the subject, which is not changed: see {@link #isOfSubject}
   */
  public PointTransformer(ErrorSites sites, List<String> prefixes, Class<?> subject) {
    this.sites = sites;
    this.changed = prefixes.stream().filter(one -> !one.startsWith(NOT)).toList();
    this.others =
        prefixes.stream().filter(one -> one.startsWith(NOT)).map(one -> one.substring(1)).toList();
    Set<String> names = new HashSet<>();
    for (@Nullable Class<?> type = subject; type != null; type = type.getSuperclass()) {
      names.add(type.getName());
      names.add(outermost(type).getName());
    }
    this.ofSubject = Set.copyOf(names);
  }

  private static Class<?> outermost(Class<?> type) {
    Class<?> outer = type;
    while (outer.getEnclosingClass() != null) {
      outer = outer.getEnclosingClass();
    }
    return outer;
  }

  /**
   * Returns whether a class belongs to the subject, so that its errors would not be the store's.
   * These are the subject, its superclasses, the outermost class around each of them, and all
   * classes nested in one of these. Other nested classes are the store's if a prefix names them.
   *
   * @param className binary name
   * @return true if it does
   */
  public boolean isOfSubject(String className) {
    if (ofSubject.contains(className)) {
      return true;
    }
    return ofSubject.stream()
        .map(name -> name + "$")
        .anyMatch(outer ->
            className.startsWith(outer)
                && changed.stream()
                    .noneMatch(prefix ->
                        prefix.startsWith(outer)
                            && !ofSubject.contains(prefix)
                            && className.startsWith(prefix)));
  }

  /**
   * Returns whether a class is to be changed.
   *
   * @param className binary name
   * @return true if it is
   */
  public boolean isChosen(String className) {
    return changed.stream().anyMatch(className::startsWith)
        && others.stream().noneMatch(className::startsWith)
        && !isOfSubject(className);
  }

  /**
   * Changes a class.
   *
   * @param className binary name
   * @param original its bytes
   * @param loader finds the other classes that it names, as resources
   * @return the changed bytes; the original ones if it cannot be changed
   */
  public byte[] transform(String className, byte[] original, ClassLoader loader) {
    try {
      ClassFile classFile =
          ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(hierarchy(loader)));
      return classFile.transformClass(classFile.parse(original), changing(className));
    } catch (IllegalArgumentException e) { // too long, or it names a class that is missing
      sites.unchanged(className, String.valueOf(e.getMessage()));
      return original;
    }
  }

  /** A class that is missing is taken for one without a superclass of interest. */
  private static ClassHierarchyResolver hierarchy(ClassLoader loader) {
    return ClassHierarchyResolver.ofResourceParsing(loader)
        .orElse(ClassHierarchyResolver.defaultResolver())
        .orElse(_ -> ClassHierarchyInfo.ofClass(ConstantDescs.CD_Object));
  }

  private ClassTransform changing(String className) {
    return (builder, element) -> {
      if (element instanceof MethodModel method
          && method.code().isPresent()
          && !method.methodName().equalsString(ConstantDescs.CLASS_INIT_NAME)) {
        String name = method.methodName().stringValue();
        int line = method.code().map(PointTransformer::firstLine).orElse(0);
        builder.transformMethod(
            method, MethodTransform.transformingCode(new Points(className, name, line)));
      } else {
        builder.with(element);
      }
    };
  }

  private static int firstLine(CodeModel code) {
    for (CodeElement element : code) {
      if (element instanceof LineNumber number) {
        return number.line();
      }
    }
    return 0;
  }

  /** Puts the calls into one method. */
  private final class Points implements CodeTransform {
    private final String className;
    private final String method;
    private final int firstLine;
    private int line;

    /** A method whose short jumps become too long is built once more, with the same points. */
    private final List<Integer> numbers = new ArrayList<>();

    private int next;

    Points(String className, String method, int firstLine) {
      this.className = className;
      this.method = method;
      this.firstLine = firstLine;
    }

    @Override
    public void atStart(CodeBuilder builder) {
      line = firstLine;
      next = 0;
      if (line > 0) {
        builder.lineNumber(line);
      }
      call(builder, ErrorSite.Kind.CALL, "");
    }

    @Override
    public void accept(CodeBuilder builder, CodeElement element) {
      if (element instanceof LineNumber number) {
        line = number.line();
      } else if (element instanceof Instruction instruction) {
        String allocated = allocated(instruction);
        if (!allocated.isEmpty()) {
          call(builder, ErrorSite.Kind.ALLOCATION, allocated);
        }
      }
      builder.with(element);
    }

    private void call(CodeBuilder builder, ErrorSite.Kind kind, String of) {
      if (next == numbers.size()) {
        numbers.add(sites.add(new ErrorSite(kind, className, method, line, of)));
      }
      int number = numbers.get(next++);
      if (number >= 0) {
        builder.loadConstant(number).invokestatic(HOOK, "reached", OF_POINT);
      }
    }
  }

  /** What an instruction allocates; empty if nothing. */
  private static String allocated(Instruction instruction) {
    return switch (instruction) {
      case NewObjectInstruction created -> name(created.className().asSymbol());
      case NewReferenceArrayInstruction created -> name(created.componentType().asSymbol()) + "[]";
      case NewPrimitiveArrayInstruction created -> name(created.typeKind().upperBound()) + "[]";
      case NewMultiArrayInstruction created -> name(created.arrayType().asSymbol());
      case InvokeDynamicInstruction linked when creates(linked) ->
          name(linked.typeSymbol().returnType());
      case InvokeInstruction call when isGreedy(call) ->
          owner(call.owner()) + "." + call.name().stringValue();
      default -> "";
    };
  }

  /**
   * What is made without values is made once, when it is linked: a lambda that captures nothing,
   * for instance. What is of a primitive type is the hash code of a record or the case of a switch.
   */
  private static boolean creates(InvokeDynamicInstruction linked) {
    MethodTypeDesc type = linked.typeSymbol();
    return type.parameterCount() > 0 && !type.returnType().isPrimitive();
  }

  private static boolean isGreedy(InvokeInstruction call) {
    String owner = call.owner().asInternalName();
    String method = call.name().stringValue();
    boolean isOfJdk = owner.startsWith("java/") || owner.startsWith("[");
    boolean isEmptyList = method.equals("of") && call.typeSymbol().parameterCount() == 0;
    return isOfJdk
        && !isEmptyList
        && !MODEST.contains(method)
        && !EXCEPTIONS.getOrDefault(owner, Set.of()).contains(method)
        && !(method.equals("put") && owner.startsWith("java/nio/") && owner.endsWith("Buffer"))
        && !owner.equals("java/lang/invoke/VarHandle")
        && !owner.startsWith("java/util/concurrent/atomic/Atomic")
        && (GREEDY.contains(method)
            || ALSO.getOrDefault(owner, Set.of()).contains(method)
            || GREEDY_CLASSES.stream().anyMatch(owner::startsWith));
  }

  private static String owner(ClassEntry entry) {
    return name(entry.asSymbol());
  }

  private static String name(ClassDesc type) {
    if (type.isArray()) {
      return name(type.componentType()) + "[]";
    }
    return type.packageName().isEmpty()
        ? type.displayName()
        : type.packageName() + "." + type.displayName();
  }
}
