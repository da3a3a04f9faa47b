(function(){
"use strict";
document.documentElement.classList.add("js");
document.querySelectorAll("table.sorts").forEach(function(table){
  var heads=[].slice.call(table.tHead.rows[0].cells);
  heads.forEach(function(head,at){
    var button=document.createElement("button");
    button.type="button";
    while(head.firstChild)button.appendChild(head.firstChild);
    head.appendChild(button);
    button.addEventListener("click",function(){
      var isNumber=head.classList.contains("n");
      var up=head.getAttribute("aria-sort")===(isNumber?"descending":"none")||(!isNumber&&!head.hasAttribute("aria-sort"));
      heads.forEach(function(each){each.removeAttribute("aria-sort");});
      head.setAttribute("aria-sort",up?"ascending":"descending");
      var rows=[].slice.call(table.tBodies[0].rows);
      function key(row){var cell=row.cells[at];return cell.hasAttribute("data-v")?parseFloat(cell.getAttribute("data-v")):cell.textContent;}
      rows.map(function(row){return[key(row),row];}).sort(function(a,b){
        var x=a[0],y=b[0];
        if(typeof x==="number"&&typeof y==="number"){
          if(isNaN(x)||isNaN(y))return isNaN(x)-isNaN(y);
          return up?x-y:y-x;}
        return(up?1:-1)*String(x).localeCompare(String(y),undefined,{numeric:true});
      }).forEach(function(pair){table.tBodies[0].appendChild(pair[1]);});
    });
  });
});
var data=document.getElementById("matrix-data"),table=document.getElementById("matrix");
if(!data||!table)return;
var m=JSON.parse(data.textContent),open=new Set(m.open),kids={},MOST=150;
m.ids.forEach(function(id,at){(kids[m.parent[at]]=kids[m.parent[at]]||[]).push(at);});
var place={};m.ids.forEach(function(id,at){place[id]=at;});
function lines(){
  var found=[],wait=(kids["null"]||[]).map(function(at){return[at,0];}).reverse();
  while(wait.length){
    var each=wait.pop(),id=m.ids[each[0]],below=kids[id]||[],isOpen=open.has(id)&&below.length>0;
    found.push({at:each[0],depth:each[1],open:isOpen,folds:below.length>0});
    if(isOpen)for(var i=below.length-1;i>=0;i--)wait.push([below[i],each[1]+1]);
  }
  return found;
}
function draw(focus){
  var rows=lines(),line={};
  rows.forEach(function(row,at){line[row.at]=at;});
  function up(at){while(!(at in line))at=place[m.parent[at]];return line[at];}
  var cells=rows.map(function(){return{};}),totals=rows.map(function(){return 0;});
  m.pairs.forEach(function(pair){
    var r=up(pair[0]),c=up(pair[1]);
    cells[r][c]=(cells[r][c]||0)+pair[2];totals[r]+=pair[2];
  });
  var whole=totals.slice(),above=[];
  rows.forEach(function(row,at){
    while(above.length&&rows[above[above.length-1]].depth>=row.depth)above.pop();
    above.forEach(function(each){whole[each]+=totals[at];});above.push(at);
  });
  var head=document.createElement("tr"),corner=table.tHead.rows[0].cells[0].cloneNode(true);
  head.appendChild(corner);
  rows.forEach(function(row){
    var cell=document.createElement("th"),name=document.createElement("span");
    cell.scope="col";name.textContent=m.names[row.at];name.title=m.names[row.at];name.dir="auto";
    cell.appendChild(name);head.appendChild(cell);
  });
  var body=document.createElement("tbody");
  rows.forEach(function(row,r){
    var line=document.createElement("tr"),name=document.createElement("th");
    name.scope="row";name.style.paddingInlineStart=Math.min(14*row.depth,84)+"px";
    var part=document.createElement(row.folds?"button":"span");
    part.textContent=m.names[row.at];part.title=m.names[row.at];part.dir="auto";
    if(row.folds){
      part.type="button";part.setAttribute("aria-expanded",String(row.open));
      part.addEventListener("click",function(){
        var id=m.ids[row.at];
        if(row.open)open.delete(id);
        else if(rows.length+kids[id].length>MOST)return;
        else open.add(id);
        draw(row.at);
      });
      part.dataset.at=row.at;
    }else part.className="leaf";
    name.appendChild(part);line.appendChild(name);
    rows.forEach(function(column,c){
      var cell=document.createElement("td"),count=cells[r][c]||0;
      if(count){
        var share=Math.sqrt(count/totals[r]);
        cell.style.background="rgba(var(--"+(r===c?"heat":"wrong")+"),"+(0.12+0.68*share).toFixed(3)+")";
        cell.title=m.names[row.at]+" \u2192 "+m.names[column.at]+": "+count;
        cell.textContent=count;
      }
      line.appendChild(cell);
    });
    var total=document.createElement("td");
    total.className="total";total.textContent=whole[r].toLocaleString();line.appendChild(total);
    body.appendChild(line);
  });
  table.tHead.replaceChildren(head);
  head.appendChild(document.createElement("td")).className="total";
  table.replaceChild(body,table.tBodies[0]);
  if(focus!==undefined){var back=body.querySelector('button[data-at="'+focus+'"]');if(back)back.focus();}
}
draw();
})();
