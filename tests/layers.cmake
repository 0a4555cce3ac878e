# cmake -DSOURCE=DIR -P layers.cmake: the second lock on the layers, and the file map.
#
# Arrows run one way: src/base <- model <- src/lab <- ui <- src/main.c, and ui does not see model. One file includes cblas.h, one curses.h,
# one csv.h. Only main.c ends the program. The README's file map names every file of the program.

set(faults "")

function(includes_of file out)
  file(STRINGS "${file}" lines REGEX "^[ \t]*#[ \t]*include")
  set(found "")
  foreach(line ${lines})
    string(REGEX REPLACE ".*[<\"]([^>\"]+)[>\"].*" "\\1" header "${line}")
    list(APPEND found "${header}")
  endforeach()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# Every header of ours by the name it is included by, and the layer that it belongs to.
foreach(layer src/base model src/lab ui)
  file(GLOB_RECURSE headers RELATIVE "${SOURCE}/${layer}" "${SOURCE}/${layer}/*.h" "${SOURCE}/${layer}/*.def")
  set(headers_of_${layer} "${headers}")
endforeach()

function(check_layer layer)
  file(GLOB_RECURSE files "${SOURCE}/${layer}/*.c" "${SOURCE}/${layer}/*.h")
  foreach(file ${files})
    includes_of("${file}" includes)
    file(RELATIVE_PATH name "${SOURCE}" "${file}")
    foreach(other src/base model src/lab ui)
      list(FIND ARGN "${other}" allowed)
      if(allowed EQUAL -1 AND NOT other STREQUAL layer)
        foreach(header ${includes})
          list(FIND headers_of_${other} "${header}" at)
          list(FIND headers_of_${layer} "${header}" own)
          if(NOT at EQUAL -1 AND own EQUAL -1)
            set(faults "${faults}${name} includes ${header} of ${other}\n" PARENT_SCOPE)
          endif()
        endforeach()
      endif()
    endforeach()
  endforeach()
endfunction()

check_layer(src/base)
check_layer(model src/base)
check_layer(src/lab src/base model)
check_layer(ui src/base src/lab)

# The doors to the big libraries.
file(GLOB_RECURSE all "${SOURCE}/src/*.c" "${SOURCE}/src/*.h" "${SOURCE}/model/*.c" "${SOURCE}/model/*.h" "${SOURCE}/ui/*.c"
     "${SOURCE}/ui/*.h")
foreach(pair "cblas.h|model/blas.c" "curses.h|ui/term_curses.c" "csv.h>|src/lab/csvfile.c" "utf8proc.h|src/base/utf8.c"
             "pcre2.h|model/text/pattern.c")
  string(REPLACE "|" ";" pair "${pair}")
  list(GET pair 0 header)
  list(GET pair 1 door)
  foreach(file ${all})
    file(RELATIVE_PATH name "${SOURCE}" "${file}")
    file(STRINGS "${file}" hits REGEX "#[ \t]*include[ \t]*<(n?curses.*/)?${header}")
    if(hits AND NOT name STREQUAL door)
      string(APPEND faults "${name} includes ${header}; only ${door} may\n")
    endif()
  endforeach()
endforeach()

# Only main.c ends the program.
foreach(file ${all})
  file(RELATIVE_PATH name "${SOURCE}" "${file}")
  if(NOT name STREQUAL "src/main.c")
    file(STRINGS "${file}" hits REGEX "(^|[^a-z_])exit\\(")
    if(hits)
      string(APPEND faults "${name} calls exit: ${hits}\n")
    endif()
  endif()
endforeach()

# The file map.
file(READ "${SOURCE}/README.md" readme)
foreach(file ${all})
  get_filename_component(stem "${file}" NAME_WE)
  get_filename_component(leaf "${file}" NAME)
  file(RELATIVE_PATH name "${SOURCE}" "${file}")
  if(NOT leaf MATCHES "^(op|exp|observe|pane)_")
    string(REGEX MATCH "[ `/]${stem}[ ,.`\n]" hit "${readme}")
    if(NOT hit)
      string(APPEND faults "README.md's file map does not name ${name}\n")
    endif()
  endif()
endforeach()

# The top level.
file(GLOB top RELATIVE "${SOURCE}" "${SOURCE}/*")
foreach(entry ${top})
  if(NOT entry MATCHES "^(CMakeLists.txt|src|ui|model|assets|tests|README.md|build.*|\\..*)$")
    string(APPEND faults "at the top level, beside the card: ${entry}\n")
  endif()
endforeach()

if(faults)
  message(FATAL_ERROR "\n${faults}")
endif()
